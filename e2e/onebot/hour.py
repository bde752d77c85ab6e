"""One hour on QQ: every message, notice, request and meta event that OneBot v11 names and NapCat reports. Each event has
a second of its own, by which it is found again whatever has become of it."""

import json
import sys
from dataclasses import dataclass
from typing import Any

from . import cq
from .segments import Segment, kinds, text
from .world import World

SELF, ALICE, BOB, CAROL, BUTLER, ANONYMOUS = 10000, 10001, 10002, 10003, 2854196310, 80000000
GROUP, OTHER_GROUP = 20001, 20002
SAID = 1000
"""What the bot said before the hour began."""
_SECONDS = 3600


@dataclass(frozen=True)
class Entry:
    label: str
    event: dict[str, Any]


def world(self_id: int = SELF) -> World:
    """Who is there when the hour begins."""
    made = World(self_id)
    people = {ALICE: ("Alice", "", "member"), BOB: ("Bob", "Bob the builder", "admin"), CAROL: ("卡罗", "", "owner")}
    made.add_group(GROUP, "Garden", people)
    made.add_group(OTHER_GROUP, "花园", people)
    said = [text("It will rain.")]
    made.history[SAID] = {
        **_message(self_id, SAID, GROUP, self_id, said), "time": 0, "self_id": self_id, "post_type": "message_sent",
    }  # fmt: skip
    return made


def hour(began: int, self_id: int = SELF, files: str = "http://127.0.0.1:9") -> list[Entry]:
    entries = [*_meta(), *_messages(self_id, files), *_notices(self_id), *_requests()]
    labels = [label for label, _ in entries]
    assert len(set(labels)) == len(labels), "each has a name of its own"
    return [
        Entry(label, {"time": began + place * _SECONDS // len(entries), "self_id": self_id, **event})
        for place, (label, event) in enumerate(entries)
    ]


def _message(self_id: int, message_id: int, group_id: int | None, user_id: int, message: list[Segment]) -> dict[str, Any]:
    nickname, card = {ALICE: ("Alice", ""), BOB: ("Bob", "Bob the builder"), CAROL: ("卡罗", "")}.get(
        user_id, ("Callgate" if user_id == self_id else "N, [n]", "")
    )
    sender = {"user_id": user_id, "nickname": nickname, "card": card}
    event = {
        "post_type": "message", "message_type": "group" if group_id else "private", "message_id": message_id,
        "message_seq": message_id, "real_id": message_id, "user_id": user_id,
        "sub_type": "normal" if group_id else "friend", "message": message, "message_format": "array",
        "raw_message": cq.from_segments(message), "font": 14, "sender": sender,
    }  # fmt: skip
    if group_id:
        event |= {"group_id": group_id, "group_name": "Garden" if group_id == GROUP else "花园"}
        sender["role"] = {BOB: "admin", CAROL: "owner"}.get(user_id, "member")
    return event


def _messages(self_id: int, files: str) -> list[tuple[str, dict[str, Any]]]:
    said = []
    for number, (label, message) in enumerate(kinds(self_id, BOB, SAID, files)):
        speaker = (ALICE, BOB, CAROL)[number % 3]
        said.append((f"group: {label}", _message(self_id, 1001 + number, GROUP, speaker, message)))
    for number, (label, message) in enumerate(kinds(self_id, BOB, SAID, files)):
        # There is nobody else to speak to in private.
        if not any(part["type"] in ("at", "anonymous") for part in message):
            said.append((f"private: {label}", _message(self_id, 2001 + number, None, ALICE, message)))
    ids = iter(range(3001, 3100))
    hello = [text("hello")]
    anonymous = {"id": ANONYMOUS, "name": "大力鬼王", "flag": "a|b,c"}
    sent = {"post_type": "message_sent", "message_sent_type": "self"}
    temporary = {"sub_type": "group", "group_id": GROUP, "temp_source": 0}
    numbers = _message(self_id, next(ids), GROUP, ALICE, hello)
    numbers |= {"user_id": str(ALICE), "group_id": str(GROUP), "sender": {**numbers["sender"], "user_id": str(ALICE)}}
    stranger = {"user_id": CAROL, "nickname": "", "sex": "female", "age": 20}
    return [
        *said,
        ("group: in another group", _message(self_id, next(ids), OTHER_GROUP, CAROL, hello)),
        ("group: said anonymously", {**_message(self_id, next(ids), GROUP, ANONYMOUS, hello), "sub_type": "anonymous",
                                     "anonymous": anonymous}),
        ("group: a notice among messages", {**_message(self_id, next(ids), GROUP, ALICE, hello), "sub_type": "notice"}),
        ("group: numbers as words", numbers),
        ("group: a negative message id", _message(self_id, -1_938_271_827, GROUP, ALICE, hello)),
        ("private: from a group", {**_message(self_id, next(ids), None, BOB, hello), **temporary}),
        ("private: other", {**_message(self_id, next(ids), None, CAROL, hello), "sub_type": "other"}),
        ("private: a sender with little", {**_message(self_id, next(ids), None, CAROL, hello), "sender": stranger}),
        ("private: of QQ itself", _message(self_id, next(ids), None, BUTLER, hello)),
        ("group: sent by the bot", {**_message(self_id, next(ids), GROUP, self_id, hello), **sent}),
        ("private, from a group: sent by the bot", {**_message(self_id, next(ids), None, self_id, hello), **sent, **temporary,
                                                    "target_id": BOB}),
        ("private: sent by the bot", {**_message(self_id, next(ids), None, self_id, hello), **sent, "target_id": ALICE}),
    ]  # fmt: skip


def _notice(kind: str, **fields: Any) -> dict[str, Any]:
    return {"post_type": "notice", "notice_type": kind, **fields}


def _notices(self_id: int) -> list[tuple[str, dict[str, Any]]]:
    here = {"group_id": GROUP, "user_id": ALICE}
    by_bob = {**here, "operator_id": BOB}
    file = {"id": "/f-9", "name": "a, [b].txt", "size": 12, "busid": 102}
    poke_words = [{"col": "1", "nm": "", "type": "qq", "uid": "u_1"}, {"jp": "", "src": "", "type": "img"},
                  {"txt": "戳了戳", "type": "nor"}, {"col": "1", "nm": "", "tp": "0", "type": "qq", "uid": "u_2"},
                  {"txt": "", "type": "nor"}]  # fmt: skip
    notices = [
        _notice("group_upload", **here, file=file),
        *(_notice("group_admin", **here, sub_type=kind) for kind in ("set", "unset")),
        *(_notice("group_decrease", **by_bob, sub_type=kind) for kind in ("leave", "kick", "kick_me", "disband")),
        *(_notice("group_increase", **by_bob, sub_type=kind) for kind in ("approve", "invite")),
        _notice("group_ban", **by_bob, sub_type="ban", duration=600),
        _notice("group_ban", **by_bob, sub_type="lift_ban", duration=0),
        _notice("group_ban", group_id=GROUP, operator_id=BOB, user_id=0, sub_type="ban", duration=-1),
        _notice("friend_add", user_id=CAROL),
        _notice("group_recall", **by_bob, message_id=1001),
        _notice("friend_recall", user_id=ALICE, message_id=2001),
        _notice("group_card", **here, card_new="Alice, [a]", card_old=""),
        *(_notice("essence", group_id=GROUP, user_id=BOB, message_id=1002, sender_id=BOB, operator_id=CAROL, sub_type=kind)
          for kind in ("add", "delete")),
        _notice("group_msg_emoji_like", **here, message_id=1003, likes=[{"emoji_id": "66", "count": 1}], is_add=True),
        _notice("offline_file", user_id=ALICE, file={"name": "a.txt", "size": 3, "url": "http://127.0.0.1:9/a.txt"}),
        _notice("client_status", client={"app_id": 1, "device_name": "PC", "device_kind": "pc"}, online=True),
        _notice("bot_offline", user_id=self_id, tag="kicked", message="Somebody else has logged in."),
        _notice("online_file_send", peer_id=ALICE, sub_type="receive"),
        _notice("online_file_receive", peer_id=ALICE, sub_type="cancel"),
        _notice("notify", **here, sub_type="poke", target_id=self_id, raw_info=poke_words),
        _notice("notify", user_id=ALICE, sender_id=ALICE, sub_type="poke", target_id=self_id, raw_info=poke_words[::3]),
        _notice("notify", **here, sub_type="lucky_king", target_id=BOB),
        *(_notice("notify", **here, sub_type="honor", honor_type=kind) for kind in ("talkative", "performer", "emotion")),
        _notice("notify", **here, sub_type="title", title="头衔"),
        _notice("notify", **here, sub_type="group_name", name_new="Big garden"),
        _notice("notify", **here, sub_type="gray_tip", message_id=1004, busi_id="19324", content="{}", raw_info={"a": [1]}),
        _notice("notify", sub_type="profile_like", operator_id=BOB, operator_nick="Bob", times=10),
        _notice("notify", user_id=ALICE, group_id=0, sub_type="input_status", status_text="对方正在输入...", event_type=1),
        _notice("notify", **here, sub_type="input_status", status_text="", event_type=2),
        _notice("a_kind_nobody_knows", **here, something={"deep": [1, "2", None]}),
    ]  # fmt: skip
    return [(_name(event), event) for event in notices]


def _requests() -> list[tuple[str, dict[str, Any]]]:
    requests = [
        {"request_type": "friend", "user_id": CAROL, "comment": "It is me, [Carol] & co.", "flag": "f|1"},
        {"request_type": "group", "sub_type": "add", "group_id": GROUP, "user_id": CAROL, "comment": "", "flag": "f|2"},
        {"request_type": "group", "sub_type": "invite", "group_id": OTHER_GROUP, "user_id": BOB, "comment": "come",
         "flag": "f|3"},
    ]  # fmt: skip
    return [(_name(event), event) for event in ({"post_type": "request", **request} for request in requests)]


def _meta() -> list[tuple[str, dict[str, Any]]]:
    kinds = [{"meta_event_type": "lifecycle", "sub_type": kind} for kind in ("enable", "connect", "disable")]
    beat = {"meta_event_type": "heartbeat", "interval": 30000, "status": {"online": True, "good": True}}
    return [(_name(event), event) for event in ({"post_type": "meta_event", **kind} for kind in (*kinds, beat))]


def _name(event: dict[str, Any]) -> str:
    kind = event["post_type"]
    place = "group" if event.get("group_id") else "friend"
    where = {"poke": place, "input_status": place, "ban": "" if event.get("user_id") else "everybody"}
    words = (kind, event[f"{kind}_type"], event.get("sub_type"), event.get("honor_type"), where.get(event.get("sub_type", "")))
    return ".".join(filter(None, words))


if __name__ == "__main__":
    for entry in hour(int(sys.argv[1]) if len(sys.argv) > 1 else 1_780_000_000):
        print(json.dumps({"label": entry.label, "event": entry.event}, ensure_ascii=False))
