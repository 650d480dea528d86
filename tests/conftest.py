"""What all tests share: Hypothesis without deadlines, because the first call of a kernel compiles or loads it."""

from hypothesis import settings

settings.register_profile("hybriddup", deadline=None)
settings.load_profile("hybriddup")
