"""`hybriddup plugins`: list plugins and their components."""

from __future__ import annotations

from dataclasses import asdict

from hybriddup.cli import options


def plugins(plugins: options.Plugins = None, as_json: options.Json = False) -> None:
    """List plugins with their distribution, version, hooks and components.

    The plugin hybriddup.plugin.builtins has the built-in components. The environment variable
    HYBRIDDUP_DISABLE_PLUGINS=a,b disables plugins by name.
    """
    from hybriddup.cli.printing import print_json, print_table
    from hybriddup.plugin.manager import create_plugin_manager

    described = create_plugin_manager(modules=plugins or ()).describe()
    if as_json:
        print_json(list(map(asdict, described)))
        return
    for description in described:
        origin = f"{description.distribution} {description.version}".strip() or "not packaged"
        rows = [["hooks", ", ".join(description.hooks)]]
        rows += [[role.replace("_", " "), ", ".join(names)] for role, names in description.components.items()]
        print_table(rows, title=f"{description.name} ({origin})")
