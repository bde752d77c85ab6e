import copy
import pickle
import shelve


class Node:
    def __init__(self, value, children=()):
        self.value, self.children = value, list(children)

    def __eq__(self, other):
        return (self.value, self.children) == (other.value, other.children)


tree = Node("root", [Node(1), Node({"a": [1, 2]})])
again = pickle.loads(pickle.dumps(tree))
print(again == tree, again is tree, again.children[1].value)
shallow, deep = copy.copy(tree), copy.deepcopy(tree)
tree.children[0].value = "changed"
print(shallow.children[0].value, deep.children[0].value)
with shelve.open("shared/shelf") as shelf:
    shelf["x"] = {"n": 1}
with shelve.open("shared/shelf") as shelf:
    print(dict(shelf))
