"""The rules for methods that an AI can use well, checked by reading: async where expected,
annotations, a docstring with its sections, a return type that fits the kind.

Every finding names file and line. Only a method that cannot be called at all is an error.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from callgate_worker import docstring

_KINDS = ("tool", "agent", "behavior", "multimodal_agent")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Declared:
    """A method as its decorator declares it."""

    function: _Function
    file: str
    kind: str
    title: str | None
    context: str | None
    """The parameter that carries the context, which the AI never sees."""


@dataclass
class Findings:
    flavour: str
    warnings: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def warn(self, method: Declared, text: str, line: int | None = None) -> None:
        self.warnings.append(_said(method, text, line))


def judge(flavour: str | None, trees: dict[str, ast.Module]) -> dict[str, list[str]]:
    """Warnings, hints and errors about the methods in `trees`, which are by file."""
    findings = Findings(flavour or "")
    declared = [method for file, tree in trees.items() for method in _methods(flavour, file, tree)]
    for method in declared:
        _signature(method, findings)
        _returned(method, findings)
        _documented(method, findings)
    _names(declared, findings)
    found = {"warnings": findings.warnings, "hints": findings.hints, "errors": findings.errors}
    return found


def _said(method: Declared, text: str, line: int | None = None) -> str:
    return f"{method.file}:{line or method.function.lineno}: {method.function.name}: {text}"


def _methods(flavour: str | None, file: str, tree: ast.Module) -> Iterator[Declared]:
    for node in ast.walk(tree):
        if not isinstance(node, _Function):
            continue
        for decorator in node.decorator_list:
            method = _nekro(node, decorator, file) if flavour == "nekro" else None
            method = _native(node, decorator, file) if flavour == "native" else method
            if method:
                yield method
                break


def _nekro(node: _Function, decorator: ast.expr, file: str) -> Declared | None:
    if not isinstance(decorator, ast.Call) or _word(decorator.func) != "mount_sandbox_method":
        return None
    words = {word.arg: word.value for word in decorator.keywords}
    kind = decorator.args[0] if decorator.args else words.get("method_type")
    name = decorator.args[1] if len(decorator.args) > 1 else words.get("name")
    title = name.value if isinstance(name, ast.Constant) else None
    parameters = _positional(node)
    context = parameters[0].arg if parameters else None
    kind_word = _word(kind).lower() if kind is not None else "tool"
    return Declared(node, file, kind_word, title if isinstance(title, str) else None, context)


def _native(node: _Function, decorator: ast.expr, file: str) -> Declared | None:
    call = decorator if isinstance(decorator, ast.Call) else None
    word = _word(call.func if call else decorator)
    if word not in (*_KINDS, "method"):
        return None
    kind = "tool" if word == "method" else word
    for keyword in call.keywords if call else ():
        if keyword.arg == "kind" and isinstance(keyword.value, ast.Constant):
            kind = str(keyword.value.value)
    parameters = [*_positional(node), *node.args.kwonlyargs]
    context = [it.arg for it in parameters if it.annotation and _word(it.annotation) == "Context"]
    return Declared(node, file, kind, None, context[0] if context else None)


def _positional(node: _Function) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args]


def _word(node: ast.expr | None) -> str:
    """The last name of `a.b.c`, of a string or of a name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.rpartition(".")[2]
    return node.id if isinstance(node, ast.Name) else ""


def _shown_parameters(method: Declared) -> list[ast.arg]:
    arguments = method.function.args
    parameters = [*_positional(method.function), *arguments.kwonlyargs]
    return [it for it in parameters if it.arg != method.context]


def _signature(method: Declared, findings: Findings) -> None:
    node = method.function
    if findings.flavour == "nekro":
        if isinstance(node, ast.FunctionDef):
            findings.warn(method, "should be `async def`")
        parameters = _positional(node)
        if not parameters and node.args.vararg is None:
            text = "takes no parameter, but the context is passed first: add `_ctx: AgentCtx`"
            findings.errors.append(_said(method, text))
        elif parameters and parameters[0].arg != "_ctx":
            findings.warn(method, f"the first parameter should be `_ctx: AgentCtx`, not `{parameters[0].arg}`")
        elif parameters and parameters[0].annotation is None:
            findings.warn(method, "annotate the first parameter: `_ctx: AgentCtx`")
    for parameter in _shown_parameters(method):
        if parameter.annotation is None:
            findings.warn(method, f"parameter `{parameter.arg}` has no annotation", parameter.lineno)
    if node.returns is None:
        findings.warn(method, "the result has no annotation")


def _returned(method: Declared, findings: Findings) -> None:
    returns = method.function.returns
    if returns is None or method.kind not in _KINDS:
        return
    written = ast.unparse(returns).strip("'\"")
    plain = re.sub(r"\b(typing|t)\.", "", written)
    if method.kind in ("agent", "behavior") and plain != "str":
        findings.warn(method, f"a method of kind {method.kind} should return `str`, not `{written}`")
    fits = re.match(r"^(str|List|list|Dict|dict|Sequence|tuple|Tuple)\b", plain)
    if method.kind == "multimodal_agent" and not fits:
        text = f"should return a list of message parts, not `{written}`"
        findings.warn(method, f"a method of kind multimodal_agent {text}")


def _documented(method: Declared, findings: Findings) -> None:
    node = method.function
    text = ast.get_docstring(node, clean=False)
    if not text or not text.strip():
        findings.warn(method, "has no docstring, so the AI is not told of it")
        return
    doc = docstring.read(text)
    if not doc.summary:
        findings.warn(method, "the docstring should begin with a summary in its first line")
    names = [parameter.arg for parameter in _shown_parameters(method)]
    for name in names:
        if name not in doc.parameters:
            findings.warn(method, f"parameter `{name}` is not described under `Args:`")
    variadic = [it.arg for it in (node.args.vararg, node.args.kwarg) if it]
    for name in doc.parameters:
        if name == method.context:
            findings.warn(method, f"`{name}` stands under `Args:`, but the AI does not pass it")
        elif name not in (*names, *variadic):
            findings.warn(method, f"`Args:` describes `{name}`, which is no parameter")
    nothing = node.returns is None or ast.unparse(node.returns) == "None"
    if not nothing and not doc.sections & {"returns", "yields"}:
        findings.warn(method, "the docstring has no `Returns:`")
    if "example" not in doc.sections:
        findings.hints.append(_said(method, "an `Example:` in the docstring helps the AI"))


def _names(declared: list[Declared], findings: Findings) -> None:
    """`snake_case` and `camelCase` side by side confuse the AI that has to spell them."""
    named = [(method, method.title or method.function.name) for method in declared]
    words = [(method, name) for method, name in named if name.isidentifier() and name.isascii()]
    snake = [name for _, name in words if "_" in name and name.lower() == name]
    camel = [(method, name) for method, name in words if re.fullmatch(r"[a-z]+[A-Z]\w*", name)]
    if snake and camel:
        method, name = camel[0]
        findings.warn(method, f"`{name}` and `{snake[0]}` are named in two styles")
