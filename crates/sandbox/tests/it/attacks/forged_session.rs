//! Attack: pass as another session.

use crate::harness::{TestJail, attack};

/// The host knows which run a socket belongs to: nothing the code says about itself is heard.
#[test]
fn the_chat_key_grants_nothing() {
    let other = TestJail::shared().session();
    std::fs::write(other.shared().join("secret"), "theirs").unwrap();
    let code = format!(
        r#"
print(_ck)
_ck = "onebot-group_2"
import __main__
__main__._ck = _ck
print(add(1, 2), os.listdir("/app/shared"))
attempt("folder", lambda: os.listdir("/.sessions/{}"))
"#,
        other.folders.id
    );
    let mut attack = attack(&code);
    attack.spec.chat_key = "onebot-group_1".into();
    let outcome = attack.run();
    outcome.prints("onebot-group_1\n3 []\nfolder ENOENT\n");
    outcome.called(&["add"]);
}
