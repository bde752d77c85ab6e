"""The vectors of a store, each under a number, in one file.

Where a plugin's environment has faiss, the file and the index are faiss's, for plugins open them by themselves;
otherwise numpy looks through all of them, which is what a flat index does as well."""

from __future__ import annotations

import os
from typing import Any

import numpy

from astrbot.core.exceptions import NotAvailableError

_ZIPPED = b"PK"


class EmbeddingStorage:
    def __init__(self, dimension: int, path: str | None = None) -> None:
        """A dimension of 0 is one that the first vector will tell."""
        self.dimension = dimension
        self.path = path
        self.index: Any = None
        if path and os.path.exists(path):
            self.index = _read(path)
            self.dimension = self.index.d
        elif dimension:
            self.index = _new(dimension)

    async def insert(self, vector: Any, id: int) -> None:
        await self.insert_batch(numpy.asarray(vector, dtype="float32").reshape(1, -1), [id])

    async def insert_batch(self, vectors: Any, ids: list[int]) -> None:
        vectors = numpy.ascontiguousarray(vectors, dtype="float32")
        self._check(vectors)
        if self.index is None:
            self.dimension = vectors.shape[1]
            self.index = _new(self.dimension)
        self.index.add_with_ids(vectors, numpy.asarray(ids, dtype="int64"))
        await self.save_index()

    async def search(self, vector: Any, k: int) -> tuple[Any, Any]:
        """Squared distances and numbers, the nearest first; -1 where there are no more."""
        asked = numpy.ascontiguousarray(numpy.asarray(vector, dtype="float32").reshape(1, -1))
        if self.index is None:
            return numpy.full((1, k), numpy.inf, dtype="float32"), numpy.full((1, k), -1, dtype="int64")
        self._check(asked)
        return self.index.search(asked, k)

    async def delete(self, ids: list[int]) -> None:
        if self.index is not None and len(ids):
            self.index.remove_ids(numpy.asarray(ids, dtype="int64"))
            await self.save_index()

    async def save_index(self) -> None:
        if self.path and self.index is not None:
            _write(self.index, self.path)

    def _check(self, vectors: Any) -> None:
        if self.dimension and vectors.shape[1] != self.dimension:
            raise ValueError(
                f"the vectors of this store have {self.dimension} numbers, the model gave {vectors.shape[1]}:"
                " use the model that it was made with, or make a new store"
            )


class FlatIndex:
    """As faiss's flat index with numbers, of which it has what plugins use."""

    def __init__(self, dimension: int) -> None:
        self.d = dimension
        self._ids = numpy.empty(0, dtype="int64")
        self._vectors = numpy.empty((0, dimension), dtype="float32")

    @property
    def ntotal(self) -> int:
        return len(self._ids)

    def add_with_ids(self, vectors: Any, ids: Any) -> None:
        self._ids = numpy.concatenate([self._ids, ids])
        self._vectors = numpy.concatenate([self._vectors, vectors])

    def remove_ids(self, ids: Any) -> int:
        kept = ~numpy.isin(self._ids, ids)
        self._ids, self._vectors = self._ids[kept], self._vectors[kept]
        return int((~kept).sum())

    def reconstruct(self, id: int) -> Any:
        places = numpy.flatnonzero(self._ids == id)
        if not len(places):
            raise RuntimeError(f"there is no vector {id}")
        return self._vectors[places[0]]

    def search(self, asked: Any, k: int) -> tuple[Any, Any]:
        found = min(k, self.ntotal)
        distances = numpy.full((len(asked), k), numpy.inf, dtype="float32")
        ids = numpy.full((len(asked), k), -1, dtype="int64")
        for row, vector in enumerate(asked):
            squares = ((self._vectors - vector) ** 2).sum(axis=1)
            nearest = numpy.argsort(squares, kind="stable")[:found]
            distances[row, :found], ids[row, :found] = squares[nearest], self._ids[nearest]
        return distances, ids

    def write(self, path: str) -> None:
        with open(f"{path}.new", "wb") as file:
            numpy.savez(file, ids=self._ids, vectors=self._vectors)
        os.replace(f"{path}.new", path)

    @classmethod
    def read(cls, path: str) -> FlatIndex:
        with numpy.load(path, allow_pickle=False) as kept:
            index = cls(kept["vectors"].shape[1])
            index.add_with_ids(kept["vectors"], kept["ids"])
        return index


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        return None
    return faiss


def _new(dimension: int) -> Any:
    faiss = _faiss()
    return faiss.IndexIDMap2(faiss.IndexFlatL2(dimension)) if faiss else FlatIndex(dimension)


def _read(path: str) -> Any:
    with open(path, "rb") as file:
        if file.read(len(_ZIPPED)) == _ZIPPED:
            return FlatIndex.read(path)
    if faiss := _faiss():
        return faiss.read_index(path)
    raise NotAvailableError(f"{path} was written by faiss: add faiss-cpu to the plugin's requirements.txt")


def _write(index: Any, path: str) -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    if isinstance(index, FlatIndex):
        index.write(path)
    else:
        _faiss().write_index(index, path)
