"""What an account on the QQ side knows and does: its groups, friends and history, the answer to each action, and the
witness of everything that it was told to send."""

import itertools
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import cq

OK, BAD_REQUEST, NOT_SUPPORTED, FAILED = 0, 1400, 1404, 1200


class Refused(Exception):
    def __init__(self, retcode: int, wording: str):
        super().__init__(wording)
        self.retcode = retcode


@dataclass
class Group:
    name: str
    members: dict[int, dict[str, Any]] = field(default_factory=dict)
    whole_ban: bool = False


@dataclass(frozen=True)
class Sent:
    """A message that people in `chat` now see."""

    chat: str
    message: list[dict[str, Any]]
    message_id: int
    at: float

    @property
    def text(self) -> str:
        return "".join(part["data"]["text"] for part in self.message if part["type"] == "text")


# Actions whose whole effect is that they were done: `World.done` has them.
_JUST_DONE = frozenset(
    "send_like set_group_anonymous_ban set_group_anonymous set_group_special_title set_restart clean_cache"
    " set_friend_add_request set_group_add_request set_friend_remark mark_msg_as_read mark_group_msg_as_read"
    " mark_private_msg_as_read _mark_all_as_read set_essence_msg delete_essence_msg _send_group_notice _del_group_notice"
    " set_msg_emoji_like group_poke friend_poke send_poke set_group_portrait set_qq_profile set_qq_avatar"
    " set_self_longnick set_input_status set_online_status delete_friend set_group_sign set_group_remark bot_exit".split()
)


class World:
    def __init__(self, self_id: int = 10000, nickname: str = "Callgate"):
        self.self_id = self_id
        # What this program has no actions for, as older ones.
        self.without: set[str] = set()
        self.nickname = nickname
        self.groups: dict[int, Group] = {}
        self.people: dict[int, str] = {}
        # Everything that was said, by message id; in this order.
        self.history: dict[int, dict[str, Any]] = {}
        self.forwards: dict[str, list[dict[str, Any]]] = {}
        self.sent: list[Sent] = []
        # Called with each message that is sent.
        self.on_sent: Callable[[Sent], None] = lambda _: None
        self.done: list[tuple[str, dict[str, Any]]] = []
        self._ids = itertools.count(900_001)

    def add_group(self, group_id: int, name: str, people: dict[int, tuple[str, str, str]]) -> None:
        """People by id: nickname, card and role."""
        group = self.groups[group_id] = Group(name)
        for user_id, (nickname, card, role) in {**people, self.self_id: (self.nickname, "", "admin")}.items():
            self.people[user_id] = nickname
            group.members[user_id] = {
                "group_id": group_id, "user_id": user_id, "nickname": nickname, "card": card, "role": role,
                "sex": "unknown", "age": 0, "area": "", "level": "1", "title": "", "join_time": 1_700_000_000,
                "last_sent_time": 1_700_000_000, "unfriendly": False, "card_changeable": True,
                "title_expire_time": 0, "shut_up_timestamp": 0,
            }  # fmt: skip

    def by_chat(self) -> dict[str, list[str]]:
        chats: dict[str, list[str]] = defaultdict(list)
        for sent in self.sent:
            chats[sent.chat].append(sent.text)
        return dict(chats)

    def answer(self, action: str, params: dict[str, Any]) -> Any:
        """The data of an answer; raises `Refused`."""
        action = action.removesuffix("_async").removesuffix("_rate_limited")
        if action in self.without:
            raise Refused(NOT_SUPPORTED, f"unsupported action {action}")
        if action in _JUST_DONE:
            self.done.append((action, params))
            return None
        perform = getattr(self, f"_{action.lstrip('.')}", None)
        if perform is None or action.startswith("_"):
            raise Refused(NOT_SUPPORTED, f"unsupported action {action}")
        try:
            return perform(**{key: value for key, value in params.items() if key != "self_id"})
        except (TypeError, ValueError, KeyError) as error:
            raise Refused(BAD_REQUEST, f"{action}: {error!r}") from error

    # Messages.

    def _send_msg(self, message: Any, message_type: str = "", user_id: Any = 0, group_id: Any = 0, **_: Any) -> Any:
        if message_type == "group" or (not message_type and group_id):
            return self._send_group_msg(group_id, message)
        return self._send_private_msg(user_id, message)

    def _send_group_msg(self, group_id: Any, message: Any, **_: Any) -> Any:
        if int(group_id) not in self.groups:
            raise Refused(FAILED, f"no group {group_id}")
        return self.say(f"group {int(group_id)}", message, group_id=int(group_id), message_type="group")

    def _send_private_msg(self, user_id: Any, message: Any, group_id: Any = 0, **_: Any) -> Any:
        return self.say(f"private {int(user_id)}", message, target_id=int(user_id), message_type="private")

    def say(self, chat: str, message: Any, **where: Any) -> dict[str, Any]:
        if isinstance(message, dict):
            message = [message]
        if isinstance(message, str):
            message = [{"type": "text", "data": {"text": message}}] if message else []
        if not message:
            raise Refused(FAILED, "the message is empty")
        message_id, now = next(self._ids), time.time()
        self.sent.append(Sent(chat, message, message_id, now))
        self.on_sent(self.sent[-1])
        self.history[message_id] = {
            "self_id": self.self_id, "user_id": self.self_id, "time": int(now), "message_id": message_id,
            "message_seq": message_id, "real_id": message_id, "font": 14, "post_type": "message_sent", **where,
            "sender": {"user_id": self.self_id, "nickname": self.nickname, "card": ""},
            "message": message, "raw_message": cq.from_segments(message), "message_format": "array",
        }  # fmt: skip
        return {"message_id": message_id}

    def _send_forward_msg(self, messages: list, group_id: Any = 0, user_id: Any = 0, **_: Any) -> Any:
        if not all(node["type"] == "node" for node in messages):
            raise Refused(FAILED, "only nodes can be forwarded")
        forward_id = f"forward-{len(self.forwards) + 1}"
        self.forwards[forward_id] = messages
        segment = {"type": "forward", "data": {"id": forward_id}}
        said = self._send_group_msg(group_id, segment) if group_id else self._send_private_msg(user_id, segment)
        return {**said, "res_id": forward_id, "forward_id": forward_id}

    _send_group_forward_msg = _send_private_forward_msg = _send_forward_msg

    def _get_forward_msg(self, id: Any = None, message_id: Any = None, **_: Any) -> Any:
        nodes = self.forwards[str(id or message_id)]
        return {"messages": [_as_message(node["data"]) for node in nodes]}

    def _delete_msg(self, message_id: Any) -> None:
        if self.history.pop(int(message_id), None) is None:
            raise Refused(FAILED, f"no message {message_id}")
        self.done.append(("delete_msg", {"message_id": int(message_id)}))

    def _get_msg(self, message_id: Any) -> Any:
        if int(message_id) not in self.history:
            raise Refused(FAILED, f"no message {message_id}")
        return self.history[int(message_id)]

    def _get_group_msg_history(self, group_id: Any, message_seq: Any = 0, count: Any = 20, **_: Any) -> Any:
        return {"messages": self.said(int(count), int(message_seq or 0), group_id=int(group_id))}

    def _get_friend_msg_history(self, user_id: Any, message_seq: Any = 0, count: Any = 20, **_: Any) -> Any:
        said = [*self.said(0, int(message_seq or 0), user_id=int(user_id), message_type="private"),
                *self.said(0, int(message_seq or 0), target_id=int(user_id))]  # fmt: skip
        return {"messages": sorted(said, key=lambda event: event["message_id"])[-int(count) :]}

    def said(self, count: int, until: int, **where: Any) -> list[dict[str, Any]]:
        """The last `count`, or all, up to a message."""
        found = [
            event
            for event in self.history.values()
            if all(str(event.get(name)) == str(value) for name, value in where.items())
            and (not until or event["message_id"] <= until)
        ]
        return found[-count:]

    def _handle_quick_operation(self, context: dict[str, Any], operation: dict[str, Any]) -> None:
        self.done.append((".handle_quick_operation", operation))
        if context["post_type"] == "message" and operation.get("reply"):
            self._send_msg(operation["reply"], context["message_type"], context["user_id"], context.get("group_id", 0))

    # People and groups.

    def _get_login_info(self) -> Any:
        return {"user_id": self.self_id, "nickname": self.nickname}

    def _get_stranger_info(self, user_id: Any, no_cache: Any = False) -> Any:
        return {"user_id": int(user_id), "nickname": self.people[int(user_id)], "sex": "unknown", "age": 0, "level": 1}

    def _get_friend_list(self, no_cache: Any = False) -> Any:
        return [{"user_id": id, "nickname": name, "remark": ""} for id, name in self.people.items()]

    def _get_group_info(self, group_id: Any, no_cache: Any = False) -> Any:
        group = self.groups[int(group_id)]
        return {
            "group_id": int(group_id), "group_name": group.name, "group_remark": "", "group_all_shut": -group.whole_ban,
            "member_count": len(group.members), "max_member_count": 200,
        }  # fmt: skip

    def _get_group_list(self, no_cache: Any = False) -> Any:
        return [self._get_group_info(group_id) for group_id in self.groups]

    def _get_group_member_info(self, group_id: Any, user_id: Any, no_cache: Any = False) -> Any:
        return self.groups[int(group_id)].members[int(user_id)]

    def _get_group_member_list(self, group_id: Any, no_cache: Any = False) -> Any:
        return list(self.groups[int(group_id)].members.values())

    def change_member(self, action: str, group_id: Any, user_id: Any, **change: Any) -> None:
        member = self._get_group_member_info(group_id, user_id)
        if member["role"] == "owner":
            raise Refused(FAILED, "that is the owner of the group")
        member.update(change)
        self.done.append((action, {"group_id": int(group_id), "user_id": int(user_id), **change}))

    def _set_group_ban(self, group_id: Any, user_id: Any, duration: Any = 1800) -> None:
        until = int(time.time()) + int(duration) if int(duration) else 0
        self.change_member("set_group_ban", group_id, user_id, shut_up_timestamp=until)

    def _set_group_card(self, group_id: Any, user_id: Any, card: str = "") -> None:
        self.change_member("set_group_card", group_id, user_id, card=card)

    def _set_group_admin(self, group_id: Any, user_id: Any, enable: bool = True) -> None:
        self.change_member("set_group_admin", group_id, user_id, role="admin" if enable else "member")

    def _set_group_kick(self, group_id: Any, user_id: Any, reject_add_request: bool = False) -> None:
        self.change_member("set_group_kick", group_id, user_id)
        del self.groups[int(group_id)].members[int(user_id)]

    def _set_group_whole_ban(self, group_id: Any, enable: bool = True) -> None:
        self.groups[int(group_id)].whole_ban = bool(enable)
        self.done.append(("set_group_whole_ban", {"group_id": int(group_id), "enable": enable}))

    def _set_group_name(self, group_id: Any, group_name: str) -> None:
        self.groups[int(group_id)].name = group_name
        self.done.append(("set_group_name", {"group_id": int(group_id), "group_name": group_name}))

    def _set_group_leave(self, group_id: Any, is_dismiss: bool = False) -> None:
        del self.groups[int(group_id)]
        self.done.append(("set_group_leave", {"group_id": int(group_id)}))

    def _get_group_honor_info(self, group_id: Any, type: str = "all") -> Any:
        return {"group_id": int(group_id), "talkative_list": [], "performer_list": [], "legend_list": []}

    # Files.

    def _get_image(self, file: str = "", file_id: str = "", **_: Any) -> Any:
        name = file or file_id
        return {"file": f"/qq/{name}", "url": f"http://127.0.0.1/{name}", "file_size": "3", "file_name": name}

    _get_record = _get_file = _get_image

    def _get_group_file_url(self, group_id: Any, file_id: str, busid: Any = 0) -> Any:
        return {"url": f"http://127.0.0.1/group/{group_id}/{file_id}"}

    def _get_private_file_url(self, file_id: str, user_id: Any = 0) -> Any:
        return {"url": f"http://127.0.0.1/private/{file_id}"}

    def _upload_group_file(self, group_id: Any, file: str, name: str, **_: Any) -> Any:
        segment = {"type": "file", "data": {"file": name, "file_id": f"/{name}", "url": file}}
        self._send_group_msg(group_id, segment)
        return {"file_id": f"/{name}"}

    def _upload_private_file(self, user_id: Any, file: str, name: str, **_: Any) -> Any:
        self._send_private_msg(user_id, {"type": "file", "data": {"file": name, "file_id": f"/{name}", "url": file}})
        return {"file_id": f"/{name}"}

    # The program itself.

    def _get_status(self) -> Any:
        return {"online": True, "good": True, "stat": {}}

    def _get_version_info(self) -> Any:
        return {"app_name": "NapCat.Onebot", "app_version": "4.0.0", "protocol_version": "v11"}

    def _can_send_image(self) -> Any:
        return {"yes": True}

    _can_send_record = _can_send_image

    def _get_cookies(self, domain: str = "") -> Any:
        return {"cookies": "", "bkn": "0"}

    def _get_csrf_token(self) -> Any:
        return {"token": 0}

    def _get_credentials(self, domain: str = "") -> Any:
        return {"cookies": "", "token": 0}


def _as_message(node: dict[str, Any]) -> dict[str, Any]:
    """A node that was forwarded, as it is read again."""
    content = node.get("content") or []
    if isinstance(content, str):
        content = [{"type": "text", "data": {"text": content}}]
    user_id, nickname = node.get("user_id") or node.get("uin"), node.get("nickname") or node.get("name")
    return {
        "user_id": int(user_id or 0), "time": 0, "message_id": 0, "message_type": "group",
        "sender": {"user_id": int(user_id or 0), "nickname": nickname}, "message": content, "content": content,
        "raw_message": cq.from_segments(content), "message_format": "array",
    }  # fmt: skip
