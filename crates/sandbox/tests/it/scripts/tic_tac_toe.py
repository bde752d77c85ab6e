class Board:
    LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]

    def __init__(self):
        self.cells = [" "] * 9

    def winner(self):
        for a, b, c in self.LINES:
            if self.cells[a] != " " and self.cells[a] == self.cells[b] == self.cells[c]:
                return self.cells[a]
        return None if " " in self.cells else "draw"

    def best(self, player):
        other = "O" if player == "X" else "X"
        if result := self.winner():
            return {"draw": 0, player: 1}.get(result, -1), None
        best = (-2, None)
        for move in range(9):
            if self.cells[move] == " ":
                self.cells[move] = player
                score = -self.best(other)[0]
                self.cells[move] = " "
                if score > best[0]:
                    best = (score, move)
        return best

    def __str__(self):
        return "\n-+-+-\n".join("|".join(self.cells[i:i + 3]) for i in (0, 3, 6))


board, player = Board(), "X"
board.cells[4] = "O"
while not board.winner():
    board.cells[board.best(player)[1]] = player
    player = "O" if player == "X" else "X"
print(board)
print(board.winner())
