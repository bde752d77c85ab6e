class InsufficientFunds(Exception):
    def __init__(self, needed, available):
        super().__init__(f"need {needed}, have {available}")
        self.missing = needed - available


class Account:
    def __init__(self, owner, balance=0):
        self.owner, self.__balance, self.history = owner, balance, []

    @property
    def balance(self):
        return self.__balance

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.__balance += amount
        self.history.append(("deposit", amount))

    def withdraw(self, amount):
        if amount > self.__balance:
            raise InsufficientFunds(amount, self.__balance)
        self.__balance -= amount
        self.history.append(("withdraw", amount))


account = Account("Eve", 50)
for action, amount in (("deposit", 25), ("withdraw", 100), ("deposit", -1), ("withdraw", 60), ("steal", 1)):
    try:
        getattr(account, action)(amount)
    except InsufficientFunds as error:
        print(f"{action}: {error} (missing {error.missing})")
    except (ValueError, AttributeError) as error:
        print(f"{type(error).__name__}: {error}")
    else:
        print(f"{action} ok, balance {account.balance}")
    finally:
        print("-" * 10)
try:
    try:
        int("x")
    except ValueError as error:
        raise RuntimeError("wrapped") from error
except RuntimeError as error:
    print(repr(error), "<-", repr(error.__cause__))
try:
    raise ExceptionGroup("many", [ValueError(1), TypeError(2)])
except* ValueError as group:
    print("values", group.exceptions)
except* TypeError as group:
    print("types", group.exceptions)
