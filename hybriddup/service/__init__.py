"""The live window over HTTP: `hybriddup serve`. Needs the extra ``hybriddup[serve]``."""
