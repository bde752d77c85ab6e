"""Every action of OneBot v11, and those of NapCat that plugins call: names with parameters that the hour's world takes."""

from typing import Any

from .hour import ALICE, BOB, CAROL, GROUP, OTHER_GROUP, SAID
from .segments import Segment, segment, text

HELLO: list[Segment] = [text("hello")]
NODE = segment("node", user_id=str(ALICE), nickname="Alice", content=HELLO)

# In this order: some of them end what others need.
ACTIONS: list[tuple[str, dict[str, Any]]] = [
    ("send_private_msg", {"user_id": ALICE, "message": HELLO}),
    ("send_group_msg", {"group_id": GROUP, "message": HELLO}),
    ("send_msg", {"message_type": "group", "group_id": GROUP, "message": HELLO}),
    ("send_group_forward_msg", {"group_id": GROUP, "messages": [NODE]}),
    ("send_private_forward_msg", {"user_id": ALICE, "messages": [NODE]}),
    ("get_forward_msg", {"message_id": "forward-1"}),
    ("get_msg", {"message_id": SAID}),
    ("get_group_msg_history", {"group_id": GROUP, "message_seq": 0, "count": 5}),
    ("get_friend_msg_history", {"user_id": ALICE, "message_seq": 0, "count": 5}),
    ("send_like", {"user_id": ALICE, "times": 10}),
    ("set_group_ban", {"group_id": GROUP, "user_id": ALICE, "duration": 600}),
    ("set_group_whole_ban", {"group_id": GROUP, "enable": True}),
    ("set_group_anonymous_ban", {"group_id": GROUP, "flag": "a|b", "duration": 600}),
    ("set_group_anonymous", {"group_id": GROUP, "enable": True}),
    ("set_group_admin", {"group_id": GROUP, "user_id": BOB, "enable": False}),
    ("set_group_card", {"group_id": GROUP, "user_id": ALICE, "card": "Ali, [ce]"}),
    ("set_group_name", {"group_id": GROUP, "group_name": "大花园"}),
    ("set_group_special_title", {"group_id": GROUP, "user_id": ALICE, "special_title": "t"}),
    ("set_friend_add_request", {"flag": "f|1", "approve": True, "remark": "Carol"}),
    ("set_group_add_request", {"flag": "f|2", "sub_type": "add", "approve": False, "reason": "no"}),
    ("get_login_info", {}),
    ("get_stranger_info", {"user_id": CAROL}),
    ("get_friend_list", {}),
    ("get_group_info", {"group_id": GROUP}),
    ("get_group_list", {}),
    ("get_group_member_info", {"group_id": GROUP, "user_id": ALICE}),
    ("get_group_member_list", {"group_id": GROUP}),
    ("get_group_honor_info", {"group_id": GROUP, "type": "all"}),
    ("get_cookies", {"domain": "qun.qq.com"}),
    ("get_csrf_token", {}),
    ("get_credentials", {"domain": "qun.qq.com"}),
    ("get_record", {"file": "r.amr", "out_format": "mp3"}),
    ("get_image", {"file": "A1.jpg"}),
    ("get_file", {"file": "/f-1"}),
    ("get_group_file_url", {"group_id": GROUP, "file_id": "/f-1"}),
    ("get_private_file_url", {"file_id": "/f-1"}),
    ("upload_group_file", {"group_id": GROUP, "file": "http://127.0.0.1:9/a.txt", "name": "a.txt"}),
    ("upload_private_file", {"user_id": ALICE, "file": "http://127.0.0.1:9/a.txt", "name": "a.txt"}),
    ("set_msg_emoji_like", {"message_id": SAID, "emoji_id": "66", "set": True}),
    ("group_poke", {"group_id": GROUP, "user_id": ALICE}),
    ("friend_poke", {"user_id": ALICE}),
    ("set_essence_msg", {"message_id": SAID}),
    ("mark_group_msg_as_read", {"group_id": GROUP}),
    ("can_send_image", {}),
    ("can_send_record", {}),
    ("get_status", {}),
    ("get_version_info", {}),
    ("set_restart", {"delay": 0}),
    ("clean_cache", {}),
    ("delete_msg", {"message_id": SAID}),
    ("set_group_kick", {"group_id": GROUP, "user_id": ALICE, "reject_add_request": False}),
    ("set_group_leave", {"group_id": OTHER_GROUP, "is_dismiss": False}),
]
