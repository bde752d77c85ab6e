from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, getcontext, localcontext

prices = [Decimal("19.99"), Decimal("5.01"), Decimal("0.10")]
net = sum(prices)
tax = (net * Decimal("0.19")).quantize(Decimal("0.01"), ROUND_HALF_UP)
print(net, tax, net + tax, 0.1 + 0.2, Decimal("0.1") + Decimal("0.2"))
with localcontext() as context:
    context.prec = 50
    print(Decimal(2).sqrt(), Decimal(1) / 7)
print(getcontext().prec, Decimal("1E+3").normalize(), f"{Decimal('1234567.891'):,.2f}")
try:
    Decimal("abc")
except InvalidOperation as error:
    print("invalid", error)
