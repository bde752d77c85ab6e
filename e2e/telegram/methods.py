"""Methods of the Bot API, as far as bots here use them. What Telegram would refuse is refused in its words."""

import json
from typing import Any

from . import marks
from .world import BOT, World

_MEDIA = {"sendPhoto": "photo", "sendDocument": "document", "sendAudio": "audio", "sendVoice": "voice",
          "sendVideo": "video", "sendAnimation": "animation"}  # fmt: skip
_PLACED = {"sendLocation": "location", "sendDice": "dice", "sendContact": "contact", "sendPoll": "poll"}
_ACTS = {"banChatMember", "unbanChatMember", "restrictChatMember", "pinChatMessage", "unpinChatMessage",
         "deleteMessage", "setMessageReaction", "setChatTitle", "setChatAdministratorCustomTitle",
         "answerCallbackQuery"}  # fmt: skip


class Refused(Exception):
    def __init__(self, code: int, description: str, **parameters: Any):
        super().__init__(description)
        self.code, self.description, self.parameters = code, description, parameters


def bad(words: str) -> Refused:
    return Refused(400, f"Bad Request: {words}")


class Methods:
    """Of one bot. `call` gets the parameters as they came: text from forms, anything from JSON."""

    def __init__(self, world: World):
        self.world = world

    def call(self, method: str, given: dict[str, Any], files: dict[str, tuple[str, bytes]]) -> Any:
        if method == "getMe":
            return {**BOT, "can_join_groups": True, "can_read_all_group_messages": True,
                    "supports_inline_queries": False}  # fmt: skip
        if method == "sendMessage":
            return self._message(given)
        if method in _MEDIA:
            return self._media(method, given, files)
        if method in _PLACED:
            content = {name: value for name, value in given.items() if name not in ("chat_id", "reply_parameters")}
            return self._sent(method, given, {_PLACED[method]: content}, "")
        if method == "sendSticker":
            return self._sent(method, given, {"sticker": {"file_id": given["sticker"], "emoji": "😀"}}, "")
        if method in ("sendChatAction", "sendMessageDraft"):
            return self._show(method, given)
        if method == "getFile":
            return self._file(given)
        if method == "setMyCommands":
            return self._commands(given)
        if method == "getMyCommands":
            return self.world.commands or []
        if method in _ACTS:
            self._chat(given) if "chat_id" in given else None
            self.world.done.append((method, given))
            return True
        if method == "getChat":
            return self._chat(given)
        if method == "getChatMember":
            self._chat(given)
            return {"status": "member", "user": {"id": int(given["user_id"]), "is_bot": False, "first_name": "Ann"}}
        if method == "getChatMemberCount":
            self._chat(given)
            return 3
        raise Refused(404, "Not Found")

    def _chat(self, given: dict[str, Any]) -> dict[str, Any]:
        try:
            chat = int(given.get("chat_id", ""))
        except ValueError:
            raise bad("chat_id is empty") from None
        if chat in self.world.gone:
            words = "Bad Request: group chat was upgraded to a supergroup chat"
            raise Refused(400, words, migrate_to_chat_id=self.world.gone[chat])
        if chat not in self.world.chats:
            raise bad("chat not found")
        return self.world.chats[chat]

    def _text(self, given: dict[str, Any], name: str, longest: int) -> tuple[str, list[dict[str, Any]]]:
        text = given.get(name) or ""
        if not isinstance(text, str):
            raise bad(f"{name} must be a string")
        found: list[dict[str, Any]] = []
        if mode := given.get("parse_mode"):
            if mode != "HTML":
                raise bad("unsupported parse_mode")
            try:
                text, found = marks.parse(text)
            except marks.CannotParse as error:
                raise bad(f"can't parse entities: {error}") from error
        if marks.units(text) > longest:
            raise bad("message is too long" if name == "text" else "message caption is too long")
        return text.strip(), found

    def _message(self, given: dict[str, Any]) -> dict[str, Any]:
        self._chat(given)
        text, found = self._text(given, "text", 4096)
        if not text:
            raise bad("message text is empty")
        return self._sent("sendMessage", given, {"text": text, **({"entities": found} if found else {})}, text)

    def _media(self, method: str, given: dict[str, Any], files: dict[str, tuple[str, bytes]]) -> dict[str, Any]:
        self._chat(given)
        kind = _MEDIA[method]
        name, content = self._upload(kind, given, files)
        if method == "sendPhoto" and not content.startswith((b"\x89PNG", b"\xff\xd8\xff")):
            raise bad("IMAGE_PROCESS_FAILED")
        caption, found = self._text(given, "caption", 1024)
        file = {**self.world.keep(name, content), "file_name": name}
        made: dict[str, Any] = {kind: self.world.photo(content) if kind == "photo" else file}
        if caption:
            made |= {"caption": caption, **({"caption_entities": found} if found else {})}
        return self._sent(method, given, made, caption, content)

    def _upload(self, kind: str, given: dict[str, Any], files: dict[str, tuple[str, bytes]]) -> tuple[str, bytes]:
        """A form has the file in the parameter itself, or under the name that the parameter says."""
        if kind in files:
            return files[kind]
        value = str(given.get(kind) or "")
        if value.startswith("attach://") and (name := value.removeprefix("attach://")) in files:
            return files[name]
        if value in self.world.files:
            return self.world.files[value]
        raise bad(f"there is no {kind} in the request")

    def _sent(
        self, method: str, given: dict[str, Any], content: dict[str, Any], text: str, sent: bytes = b""
    ) -> dict[str, Any]:
        chat = self._chat(given)
        made = {**content}
        if reply := given.get("reply_parameters"):
            reply = json.loads(reply) if isinstance(reply, str) else reply
            answered = self.world.messages.get((chat["id"], reply["message_id"]))
            if answered is None and not reply.get("allow_sending_without_reply"):
                raise bad("message to be replied not found")
            made |= {"reply_to_message": answered} if answered else {}
        if topic := given.get("message_thread_id"):
            if not chat.get("is_forum"):
                raise bad("message thread not found")
            made |= {"message_thread_id": int(topic), "is_topic_message": True}
        made = self.world.message(BOT, chat["id"], **made)
        # Places that the bot marked are those it marked.
        self.world.see(method, chat["id"], text, made, sent)
        return made

    def _show(self, method: str, given: dict[str, Any]) -> bool:
        chat = self._chat(given)
        if method == "sendMessageDraft":
            if chat["type"] != "private":
                raise bad("drafts are for private chats")
            if not int(given.get("draft_id") or 0):
                raise bad("draft_id is empty")
            self._text(given, "text", 4096)
        elif given.get("action") != "typing":
            raise bad("wrong parameter action in request")
        self.world.shown.append((method, given))
        return True

    def _file(self, given: dict[str, Any]) -> dict[str, Any]:
        id = given.get("file_id")
        if id not in self.world.files:
            raise bad("invalid file_id")
        name, content = self.world.files[id]
        if len(content) > 20 << 20:
            raise bad("file is too big")
        ending = name.rpartition(".")[2]
        return {"file_id": id, "file_unique_id": f"u-{id}", "file_size": len(content), "file_path": f"got/{id}.{ending}"}

    def _commands(self, given: dict[str, Any]) -> bool:
        commands = given.get("commands")
        commands = json.loads(commands) if isinstance(commands, str) else commands
        for command in commands:
            name, words = command["command"], command["description"]
            if not (0 < len(name) <= 32 and name.islower() and name.replace("_", "").isalnum() and name.isascii()):
                raise bad("BOT_COMMAND_INVALID")
            if not 1 <= len(words) <= 256:
                raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
        if len(commands) > 100:
            raise bad("BOT_COMMANDS_TOO_MUCH")
        if not given.get("language_code"):
            self.world.commands = commands
        return True
