"""A module beside main, imported relatively."""


def shout(text: str) -> str:
    return f"= {text}"
