from pathlib import Path, PurePosixPath

root = Path("shared") / "project"
(root / "src" / "inner").mkdir(parents=True, exist_ok=True)
(root / "src" / "main.py").write_text("print('hi')\n", encoding="utf-8")
(root / "src" / "inner" / "数据.txt").write_text("一二三\n" * 3, encoding="utf-8")
(root / "README.md").write_bytes(b"# readme\r\n")
for path in sorted(root.rglob("*")):
    kind = "dir " if path.is_dir() else f"{path.stat().st_size:4d}"
    print(kind, path.relative_to(root))
print([p.name for p in sorted(root.glob("**/*.py"))], (root / "nothing").exists())
moved = (root / "README.md").rename(root / "README.txt")
print(moved.suffix, moved.stem, moved.with_suffix(".rst").name, PurePosixPath("/a/b/../c").parts)
moved.unlink()
print(sorted(p.name for p in root.iterdir()))
