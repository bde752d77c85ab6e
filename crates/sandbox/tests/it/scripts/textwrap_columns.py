import pprint
import textwrap

text = "The gate is the one door through which less privileged code may call privileged procedures. " * 2
print(textwrap.fill(text, 40, initial_indent="* ", subsequent_indent="  "))
print(textwrap.shorten(text, 50), textwrap.dedent("\n    a\n      b\n    c"))
print(textwrap.indent("x\n\ny", "> "))
pprint.pprint({"name": "n" * 30, "list": list(range(25)), "nested": {"a": {"b": ("c", "d")}}}, width=60)
