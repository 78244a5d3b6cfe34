"""Which rules are chosen."""

from functools import lru_cache

from loralint.knowledge import rules
from loralint.knowledge.rules import Rule, all_rules


def forget() -> None:
    """Read the rules anew when they are next asked for: what they are read from has changed."""
    rules.forget()
    select.cache_clear()


@lru_cache(maxsize=16)
def select(chosen: tuple[str, ...], ignored: tuple[str, ...], preview: bool) -> tuple[Rule, ...]:
    """Choose `among` all rules; the same words give the same object, for which others keep what they work out."""
    return among(all_rules(), chosen, ignored, preview)


def among(
    rules: tuple[Rule, ...], chosen: tuple[str, ...], ignored: tuple[str, ...], preview: bool
) -> tuple[Rule, ...]:
    """Rules by code, code prefix, name, topic or tier; the longer of two matching selectors wins, ignore wins a tie.

    Raises ValueError for a selector that matches no rule.
    """
    refuse_unmatched((*chosen, *ignored), rules)
    shown = rules if preview else tuple(rule for rule in rules if not rule.preview)
    return tuple(rule for rule in shown if _taken(rule, chosen, ignored)) if chosen or ignored else shown


def refuse_unmatched(selectors: tuple[str, ...], rules: tuple[Rule, ...], where: str = "") -> None:
    """Raise ValueError for a selector that matches no rule, which would do nothing without a word. where: its file."""
    for selector in selectors:
        if selector.upper() != "ALL" and not any(strength(rule, selector) for rule in rules):
            prefix = f"{where}: " if where else ""
            raise ValueError(f"{prefix}no rule matches `{selector}`; `loralint rules` lists them")


def _taken(rule: Rule, chosen: tuple[str, ...], ignored: tuple[str, ...]) -> bool:
    take = max((strength(rule, selector) for selector in chosen), default=1)
    leave = max((strength(rule, selector) for selector in ignored), default=0)
    return take > leave


def strength(rule: Rule, selector: str) -> int:
    """How exactly a selector names a rule: 0 not at all, 1 ALL, 2 a tier or topic, then by length of the prefix."""
    word = selector.strip()
    if word.upper() == "ALL":
        return 1
    if word.upper() in {*rule.gives, *(tier for _, tier in rule.tiers)} or word.lower() == rule.topic:
        return 2
    if word.lower() == rule.name:
        return 100
    return 2 + len(word) if rule.id.startswith(word.upper()) and word else 0
