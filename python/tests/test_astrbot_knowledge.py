"""Knowledge bases and vector stores, as published AstrBot plugins use them."""

import ast
import io
import json
import textwrap
import zipfile

from astrbot_host import Stage
from test_astrbot_ai import Written

MODELS = [{"id": "stub", "kind": "chat"}, {"id": "vec", "kind": "embedding"}]


def zipped(files: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for name, text in files.items():
            file.writestr(name, text)
    return made.getvalue()


class Knowledge(Written):
    stage: Stage

    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        await self.stage.load(self.write("pass"))
        await self.stage.rig.step("settings", settings={}, models=MODELS, personas=[])

    async def py(self, body: str) -> object:
        return json.loads(ast.literal_eval(await self.stage.py(textwrap.dedent(body))))

    async def raises(self, body: str) -> str:
        wrapped = f"try:\n    {body}\nexcept Exception as error:\n    return json.dumps(str(error))"
        return str(await self.py(wrapped))

    async def test_documents(self) -> None:
        """Kept, listed, looked into, found, taken away; there after a restart."""
        found = await self.py(
            """
            from astrbot.core.knowledge_base.kb_mgr import KnowledgeBaseManager
            kb = ctx.kb_manager
            zoo = await kb.create_kb("zoo", "animals", embedding_provider_id="vec", rerank_provider_id=None)
            stages = []
            async def told(stage, done, of): stages.append(stage)
            text = "Cats purr when they are content. " * 3 + "Zebras zigzag past the dozing lizards. " * 3
            cats = await zoo.upload_document("zoo.txt", text.encode(), ".txt", chunk_size=120, chunk_overlap=0, progress_callback=told)
            fish = await zoo.upload_document("fish", None, "txt", pre_chunked_text=["Fish swim.", " "])
            again = KnowledgeBaseManager(ctx.provider_manager)
            answer = await again.retrieve("zebras zigzag", ["zoo"], top_k_fusion=5, top_m_final=1)
            by_id = await again.get_kb_by_name(zoo.kb.kb_id)
            listed = [(one.doc_name, one.chunk_count, one.file_size) for one in await by_id.list_documents()]
            searched = [one.doc_name for one in await by_id.list_documents(0, 10, search="fi")]
            chunks = await by_id.get_chunks_by_doc_id(cats.doc_id, offset=1)
            await by_id.delete_chunk(chunks[0]["chunk_id"], cats.doc_id)
            left = (await by_id.get_document(cats.doc_id)).chunk_count
            await by_id.delete_document(cats.doc_id)
            return json.dumps({
                "stages": sorted(set(stages)), "listed": listed, "searched": searched, "left": left,
                "chunk": [chunks[0]["chunk_index"], chunks[0]["content"][:6], chunks[0]["char_count"]],
                "first": [answer["results"][0][name] for name in ("doc_name", "kb_name", "chunk_index")],
                "shown": "Zebras" in answer["context_text"],
                "counts": [by_id.kb.doc_count, by_id.kb.chunk_count, await by_id.count_documents()],
                "gone": (await again.retrieve("zebras zigzag", ["zoo"]))["results"][0]["content"],
                "none": [await again.retrieve("x", ["nothing"]), await again.get_kb_by_name("nothing")],
                "dumped": fish.model_dump()["doc_name"],
            })
            """
        )
        self.assertEqual(
            found,
            {
                "stages": ["chunking", "embedding", "parsing"],
                "listed": [["zoo.txt", 2, 216], ["fish", 1, 10]],
                "searched": ["fish"],
                "left": 1,
                "chunk": [1, "Zebras", 116],
                "first": ["zoo.txt", "zoo", 1],
                "shown": True,
                "counts": [1, 1, 1],
                "gone": "Fish swim.",
                "none": [{}, None],
                "dumped": "fish",
            },
        )

    async def test_bases(self) -> None:
        """Named once, changed, ranked by a plugin's own model, deleted with their files."""
        found = await self.py(
            """
            import os
            from astrbot.core.provider.entities import RerankResult
            kb = ctx.kb_manager
            base = await kb.create_kb("a", embedding_provider_id="vec", chunk_size=None)
            for text in ("one apple", "two pears", "three plums"):
                await base.upload_document(text, None, "txt", pre_chunked_text=[text])
            class Ranks:
                async def rerank(self, query, documents, top_n=None):
                    return [RerankResult(place, float("pears" in text)) for place, text in enumerate(documents)]
            ctx.provider_manager.inst_map["ranks"] = Ranks()
            await kb.update_kb(base.kb.kb_id, "b", description="fruit", rerank_provider_id="ranks")
            ranked = (await kb.retrieve("apple", ["b"]))["results"][0]
            kept = [[one.kb_name, one.description, one.chunk_size] for one in await kb.list_kbs()]
            folder = base.kb_dir
            there = os.path.exists(folder)
            deleted = [await kb.delete_kb(base.kb.kb_id), await kb.delete_kb(base.kb.kb_id)]
            return json.dumps([ranked["content"], ranked["score"], kept, there, os.path.exists(folder), deleted, list(kb.kb_insts)])
            """
        )
        self.assertEqual(found, ["two pears", 1.0, [["b", "fruit", 512]], True, False, [True, False], []])
        await self.py("await ctx.kb_manager.create_kb('a', embedding_provider_id='vec')\nreturn json.dumps(None)")
        self.assertIn("there is a knowledge base 'a' already", await self.raises("await ctx.kb_manager.create_kb('a', embedding_provider_id='vec')"))
        self.assertIn("embedding_provider_id", await self.raises("await ctx.kb_manager.create_kb('c')"))
        self.assertIn("none", await self.raises("await ctx.kb_manager.create_kb('c', embedding_provider_id='none')"))

    async def test_files_of_many_kinds(self) -> None:
        word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
        docx = zipped(
            {
                "word/document.xml": f'<w:document xmlns:w="{word}"><w:body><w:p><w:r><w:t>From </w:t></w:r>'
                "<w:r><w:t>a document.</w:t></w:r></w:p></w:body></w:document>"
            }
        )
        container = "urn:oasis:names:tc:opendocument:xmlns:container"
        opf = "http://www.idpf.org/2007/opf"
        epub = zipped(
            {
                "META-INF/container.xml": f'<container xmlns="{container}"><rootfiles>'
                '<rootfile full-path="book/content.opf"/></rootfiles></container>',
                "book/content.opf": f'<package xmlns="{opf}"><manifest><item id="two" href="2.xhtml"/>'
                '<item id="one" href="1.xhtml"/></manifest><spine><itemref idref="one"/><itemref idref="two"/>'
                "</spine></package>",
                "book/1.xhtml": "<html><body><p>First page.</p></body></html>",
                "book/2.xhtml": "<html><body><script>no</script><p>Second page.</p></body></html>",
            }
        )
        (self.stage.rig.root / "a.docx").write_bytes(docx)
        (self.stage.rig.root / "b.epub").write_bytes(epub)
        found = await self.py(
            """
            base = await ctx.kb_manager.create_kb("files", embedding_provider_id="vec")
            texts = []
            async def kept(name, content, kind):
                one = await base.upload_document(name, content, kind)
                texts.append((await base.get_chunks_by_doc_id(one.doc_id))[0]["content"])
            await kept("a.docx", open("a.docx", "rb").read(), "docx")
            await kept("b.epub", open("b.epub", "rb").read(), "epub")
            await kept("c.html", b"<h1>Title</h1><style>no</style><p>Text.</p>", "html")
            one = await ctx.kb_manager.upload_from_url(base.kb.kb_id, "https://example.org/x")
            texts.append((await base.get_chunks_by_doc_id(one.doc_id))[0]["content"])
            return json.dumps(texts)
            """
        )
        self.assertEqual(
            found,
            [
                "From a document.",
                "First page.\n\nSecond page.",
                "Title\nText.",
                "bytes of https://example.org/x",
            ],
        )
        base = "base = ctx.kb_manager.kb_insts.copy().popitem()[1]; await base"
        refused = await self.raises(f"{base}.upload_document('x.xls', b'x', 'xls')")
        self.assertIn("pre_chunked_text", refused)
        self.assertIn("cannot be read as docx", await self.raises(f"{base}.upload_document('x.docx', b'x', 'docx')"))
        self.assertIn("holds no text", await self.raises(f"{base}.upload_document('x.txt', b' ', 'txt')"))

    async def test_a_plugins_own_vector_store(self) -> None:
        """In files of its choice, queried by the table that plugins know; both files agree, also after a failure.
        With faiss, where the environment has it, and without."""
        for library in ("", "from astrbot.core.db.vec_db.faiss_impl import embedding_storage as es; es._faiss = lambda: None"):
            await self.own_store(library)

    async def own_store(self, library: str) -> None:
        found = await self.py(
            f"{library}\n"
            + textwrap.dedent("""
            import os
            from sqlalchemy import text
            from astrbot.core.db.vec_db.faiss_impl.vec_db import FaissVecDB
            from astrbot.core.knowledge_base.retrieval.tokenizer import tokenize_text
            provider = ctx.get_all_embedding_providers()[0]
            made = FaissVecDB("own.db", "own.index", provider)
            await made.initialize()
            first = await made.insert("cats purr", {"owner": "ann", "user_id": "u1"}, id="one")
            await made.insert_batch(["dogs bark", "zebras zigzag"], [{"owner": "bob"}, {"owner": "ann"}])
            again = FaissVecDB(doc_store_path="own.db", index_store_path="own.index", embedding_provider=provider)
            await again.initialize()
            near = await again.retrieve("cats", k=2, fetch_k=10, metadata_filters={"owner": "ann"})
            storage = again.document_storage
            async with storage.get_session() as session, session.begin():
                changed = text("UPDATE documents SET metadata = :m WHERE id = :id")
                await session.execute(changed, {"m": '{"owner": "eve"}', "id": first})
            moved = await storage.get_documents(metadata_filters={}, ids=[first], limit=1)
            sparse = await storage.search_sparse(tokenize_text("the dogs", storage.stopwords), limit=3)
            await storage.update_document_by_doc_id("one", "cats sleep")
            words = [len(await storage.search_sparse([word], 3)) for word in ("purr", "sleep")]
            class Other:
                def get_dim(self): return 3
                async def get_embedding(self, text): return [1.0, 0.0, 0.0]
            wrong = FaissVecDB("own.db", "own.index", Other())
            await wrong.initialize()
            try:
                await wrong.insert("of another model")
            except ValueError as error:
                refused = str(error)
            counted = [await again.count_documents(), await again.count_documents({"owner": "ann"}), again.embedding_storage.index.ntotal]
            await again.delete("one")
            await again.delete_documents({"owner": "bob"})
            last = [one["text"] for one in await storage.get_documents({})]
            vector = again.embedding_storage.index.reconstruct(3)
            for one in (made, again, wrong): await one.close()
            for file in ("own.db", "own.index"): os.remove(file)
            return json.dumps([
                [one.data["text"] for one in near], near[0].similarity > near[1].similarity, moved[0]["metadata"],
                [one["text"] for one in sparse], words, "make a new store" in refused, counted, last,
                again.embedding_storage.index.ntotal, len(vector)])
            """)
        )
        self.assertEqual(
            found,
            [
                ["cats purr", "zebras zigzag"],
                True,
                '{"owner": "eve"}',
                ["dogs bark"],
                [0, 1],
                True,
                [3, 1, 3],
                ["zebras zigzag"],
                1,
                26,
            ],
        )
