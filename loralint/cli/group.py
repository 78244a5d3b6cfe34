"""A command that lists, with further commands below it: `loralint rules LL4` and `loralint rules test`."""

from __future__ import annotations

import click


class Listing(click.Group):
    """What is not the name of a command below is for the first one, `list`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `list` before arguments that name no command."""
        if not args or args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["list", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[click.shell_completion.CompletionItem]:
        """The commands below, and what `list` takes."""
        listed = self.commands["list"]
        inner = listed.make_context("list", [], parent=ctx, resilient_parsing=True)
        words = [param for param in listed.params if isinstance(param, click.Argument)]
        found = super().shell_complete(ctx, incomplete) if incomplete else []
        return [*found, *(item for word in words for item in word.shell_complete(inner, incomplete))]
