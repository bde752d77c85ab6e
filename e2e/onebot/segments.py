"""Every kind of message segment that OneBot v11 and NapCat can report, and how people really mix them."""

import json
from typing import Any

Segment = dict[str, Any]

CARD = {"app": "com.tencent.miniapp_01", "prompt": "[小程序] a, b & [c]", "meta": {"detail_1": {"title": "t", "desc": "d"}}}


def segment(kind: str, **data: Any) -> Segment:
    return {"type": kind, "data": data}


def text(words: str) -> Segment:
    return segment("text", text=words)


def kinds(self_id: int, somebody: int, said: int, files: str) -> list[tuple[str, list[Segment]]]:
    """Label and message; `said` is a message of the bot's own that can be replied to, `files` an address."""
    return [
        ("text", [text("good morning")]),
        ("text, other languages", [text("早上好，世界 🌏 e\u0301 \u202eright\u202c")]),
        ("text, lines", [text("one\ntwo\r\n\tthree ")]),
        ("text, what would be CQ code", [text("[CQ:at,qq=all] & &amp; &#91;x&#93; &#44; a,b]")]),
        ("text, a lone ampersand", [text("a & b &&amp; &#x26;")]),
        ("text, empty", [text("")]),
        ("text, blank", [text("   ")]),
        ("text in pieces", [text("one "), text("two"), text(" three")]),
        ("no segment", []),
        ("face", [segment("face", id="14")]),
        ("face, number", [text("hm"), segment("face", id=178)]),
        ("face, with the raw one", [segment("face", id="424", raw={"faceIndex": 424, "faceType": 3}, resultId="5",
                                            chainCount=3)]),
        ("mface", [segment("mface", emoji_package_id=231182, emoji_id="ab12", key="k,1", summary="[爱心]")]),
        ("image", [segment("image", summary="", file="A1.jpg", sub_type=0, url=f"{files}/A1.jpg?a=1&b=[2],3",
                           file_size="10240")]),
        ("image, sticker", [segment("image", summary="[动画表情]", file="B2.gif", sub_type=1, url=f"{files}/B2.gif",
                                    file_size=2048)]),
        ("image, flash", [segment("image", file="C3.jpg", type="flash", url=f"{files}/C3.jpg")]),
        ("image, market face", [segment("image", summary="[贴贴]", file="D4.gif", url=f"{files}/D4.gif", key="ab",
                                        emoji_id="cd", emoji_package_id=1)]),
        ("record", [segment("record", file="r.amr", path="/qq/r.amr", url=f"{files}/r.amr", file_size="4096")]),
        ("record, magic", [segment("record", file="m.amr", magic=1)]),
        ("video", [segment("video", file="v.mp4", url=f"{files}/v.mp4", file_size="1048576")]),
        ("file", [segment("file", file="notes, of [us].txt", file_id="/f-1", file_size="12", url=f"{files}/f-1")]),
        ("file without address", [segment("file", file="later.txt", file_id="/f-2", file_size="12")]),
        ("at", [segment("at", qq=str(somebody)), text(" look")]),
        ("at, number", [segment("at", qq=somebody), text(" look")]),
        ("at, with a name", [segment("at", qq=str(somebody), name="@Bob, the [builder]"), text(" look")]),
        ("at the bot", [segment("at", qq=str(self_id)), text(" hello")]),
        ("at the bot, at the end", [text("hello "), segment("at", qq=str(self_id)), text(" ")]),
        ("at the bot, twice", [segment("at", qq=str(self_id)), segment("at", qq=str(self_id)), text("hello")]),
        ("at all", [segment("at", qq="all"), text(" listen")]),
        ("at a stranger", [segment("at", qq="99999"), text(" who are you")]),
        ("reply", [segment("reply", id=str(said)), text("so it is")]),
        ("reply, negative id", [segment("reply", id="-2147483640"), text("which one?")]),
        ("reply and at", [segment("reply", id=str(said)), segment("at", qq=str(self_id)), text(" agreed")]),
        ("rps", [segment("rps", result="2")]),
        ("rps, number", [segment("rps", result=1)]),
        ("dice", [segment("dice", result="6")]),
        ("shake", [segment("shake")]),
        ("shake without data", [{"type": "shake"}]),
        ("shake with null", [{"type": "shake", "data": None}]),
        ("poke", [segment("poke", type="1", id="-1", name="poke")]),
        ("poke, number", [segment("poke", type=126, id=2003)]),
        ("anonymous", [segment("anonymous", ignore="1"), text("guess who")]),
        ("share", [segment("share", url="https://example.com/?a=1,2&b", title="A, [title]", content="c", image="i")]),
        ("contact, person", [segment("contact", type="qq", id="10002")]),
        ("contact, group", [segment("contact", type="group", id="20001")]),
        ("location", [segment("location", lat="39.8969426", lon="116.3109099", title="here", content="there, too")]),
        ("location, numbers", [segment("location", lat=-33.5, lon=70, title="", content="")]),
        ("music", [segment("music", type="163", id="28949129")]),
        ("music, custom", [segment("music", type="custom", url="https://example.com", audio="https://example.com/a.mp3",
                                   title="t", content="c", image="https://example.com/i.png")]),
        ("forward", [segment("forward", id="7312345678901234567")]),
        ("forward with its messages", [segment("forward", id="7312345678901234568", content=[
            {"user_id": somebody, "sender": {"user_id": somebody, "nickname": "Bob"}, "message": [text("inside")]}])]),
        ("node", [segment("node", id="1001")]),
        ("node, custom", [segment("node", user_id=str(somebody), nickname="Bob", content=[text("so he said")])]),
        ("xml", [segment("xml", data='<?xml version="1.0"?><msg a="1,2">[x] &amp; y</msg>')]),
        ("json", [segment("json", data=json.dumps(CARD, ensure_ascii=False))]),
        ("json, broken", [segment("json", data="{not json")]),
        ("markdown", [segment("markdown", content="# Title\n\n* a, b\n* [c](https://example.com)")]),
        ("miniapp", [segment("miniapp", data=json.dumps(CARD, ensure_ascii=False))]),
        ("lightapp", [segment("lightapp", content=json.dumps(CARD, ensure_ascii=False))]),
        ("onlinefile", [segment("onlinefile", msgId="1", elementId="2", fileName="big.iso", fileSize="99", isDir=False)]),
        ("flashtransfer", [segment("flashtransfer", fileSetId="f-3")]),
        ("keyboard", [segment("keyboard", content={"rows": [{"buttons": [{"id": "1"}]}]})]),
        ("a kind nobody knows", [segment("hologram", depth=3, flat=False, of=[1, 2], in_={"a": None})]),
        ("a name with points", [segment("x-y.z_1", a="1")]),
        ("everything at once", [
            segment("reply", id=str(said)), segment("at", qq=str(somebody)), text(" see "),
            segment("face", id="1", raw={"faceIndex": 1}, resultId="", chainCount=0),
            segment("image", summary="", file="E5.png", sub_type=0, url=f"{files}/E5.png", file_size="1"),
            text("\nthis [one], & "), segment("image", summary="", file="F6.png", sub_type=0, url=f"{files}/F6.png", file_size="2"),
            text("that"),
        ]),
    ]  # fmt: skip
