from collections import deque


def step(cells):
    neighbours = {}
    for x, y in cells:
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy:
                    key = (x + dx, y + dy)
                    neighbours[key] = neighbours.get(key, 0) + 1
    return {cell for cell, n in neighbours.items() if n == 3 or n == 2 and cell in cells}


cells = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
for _ in range(4):
    cells = step(cells)
print("\n".join("".join("#" if (x, y) in cells else "." for x in range(5)) for y in range(5)))

maze = ["S.#.....", ".##.###.", "....#...", ".####.#.", "......#E"]
start, goal = (0, 0), (7, 4)
came, todo = {start: None}, deque([start])
while todo:
    x, y = todo.popleft()
    for nx, ny in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
        inside = 0 <= ny < len(maze) and 0 <= nx < len(maze[0])
        if inside and maze[ny][nx] != "#" and (nx, ny) not in came:
            came[nx, ny] = (x, y)
            todo.append((nx, ny))
path = []
place = goal
while place:
    path.append(place)
    place = came[place]
print(len(path), path[::-1][:4])
