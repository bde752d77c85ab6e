import ast
import operator
import tokenize
import io

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow, ast.USub: operator.neg}


def calculate(node):
    match node:
        case ast.Expression(body):
            return calculate(body)
        case ast.Constant(value):
            return value
        case ast.BinOp(left, op, right):
            return OPERATORS[type(op)](calculate(left), calculate(right))
        case ast.UnaryOp(op, operand):
            return OPERATORS[type(op)](calculate(operand))
    raise SyntaxError(f"not allowed: {type(node).__name__}")


for text in ("1 + 2 * 3", "-(2 ** 10) / 4", "__import__('os')"):
    try:
        print(text, "=", calculate(ast.parse(text, mode="eval")))
    except SyntaxError as error:
        print(text, "->", error)
namespace = {}
exec("def square(x):\n    return x * x", namespace)
print(namespace["square"](12), eval("a + b", {"a": 1, "b": 2}), [t.string for t in tokenize.generate_tokens(io.StringIO("x=1").readline)][:3])
print(type("Made", (), {"hello": lambda self: "hi"})().hello(), ast.unparse(ast.parse("if a:b=1")))
