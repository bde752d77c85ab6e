import bisect
import heapq


def dijkstra(graph, start):
    distance, heap = {start: 0}, [(0, start)]
    while heap:
        far, node = heapq.heappop(heap)
        if far > distance[node]:
            continue
        for other, weight in graph[node].items():
            if far + weight < distance.get(other, float("inf")):
                distance[other] = far + weight
                heapq.heappush(heap, (far + weight, other))
    return distance


print(dijkstra({"a": {"b": 7, "c": 3}, "b": {"d": 2}, "c": {"b": 1, "d": 8}, "d": {}}, "a"))
print(heapq.nlargest(3, [5, 1, 9, 7]), heapq.nsmallest(2, ["pear", "fig", "apple"], key=len))
print(list(heapq.merge([1, 4, 7], [2, 5], [0, 9])))
grades = [60, 70, 80, 90]
print(["FDCBA"[bisect.bisect(grades, score)] for score in (33, 60, 77, 89, 100)])
numbers = []
for n in (5, 2, 8, 2):
    bisect.insort(numbers, n)
print(numbers, bisect.bisect_left(numbers, 2), bisect.bisect_right(numbers, 2))
