//! Calls that wait for the operator, asked about where the conversation is: what they would do, and
//! the answer typed in place. Only what reads as an answer is taken for one.

use std::{collections::BTreeMap, convert::Infallible, sync::Arc};

use callgate_service::operations::ApprovalView;
use callgate_store::ApprovalState;
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;

use super::input::Input;
use callgate_server::control::SideClient;
use callgate_service::operations::AnswerApproval;

use crate::{
    failure::Failure,
    show::{self, Colour, paint},
};

const QUESTION: &str = "allow it? yes, no, always, never: ";
/// Characters of one argument that are shown.
const ARGUMENT: usize = 4_000;

/// What waits in the session, as far as it was told. Clones share it; a mutex, since it is told from
/// any thread, held for a look.
#[derive(Clone, Default)]
pub struct Questions(Arc<Mutex<BTreeMap<i64, ApprovalView>>>);

impl Questions {
    /// Shows this, if it is new.
    pub fn tell(&self, approval: ApprovalView, as_json: bool, show: impl Fn(&str)) {
        let line = json!({ "type": "approval", "approval": approval });
        match self.hear(approval) {
            Some(_) if as_json => show::json(&line),
            Some(text) => show(&text),
            None => {}
        }
    }

    /// What to show of this, if it is new.
    fn hear(&self, approval: ApprovalView) -> Option<String> {
        let mut waiting = self.0.lock();
        match approval.state {
            ApprovalState::Pending if waiting.contains_key(&approval.id) => None,
            ApprovalState::Pending => {
                let text = described(&approval);
                waiting.insert(approval.id, approval);
                Some(text)
            }
            _ => waiting.remove(&approval.id).map(|_| settled(&approval)),
        }
    }

    /// The number of the one that has waited longest.
    fn first(&self) -> Option<i64> {
        self.0.lock().keys().next().copied()
    }
}

/// While one turn runs.
pub struct ApprovalDialog<'a> {
    pub questions: Questions,
    /// What is asked and answered meanwhile.
    pub news: mpsc::UnboundedReceiver<ApprovalView>,
    pub client: SideClient,
    pub show: &'a (dyn Fn(&str) + Sync),
    pub as_json: bool,
}

impl ApprovalDialog<'_> {
    /// Never returns: it is raced against the turn.
    pub async fn answer_all(mut self, input: &mut Input) -> Infallible {
        let mut reads = true;
        loop {
            let first = self.questions.first();
            tokio::select! {
                biased;
                Some(approval) = self.news.recv() => self.tell(approval),
                line = input.answer(QUESTION), if reads && first.is_some() => match line {
                    Some(line) => match Reply::read(&line, first.filter(|_| input.is_terminal())) {
                        Some(reply) if input.is_between_messages() => self.answer(reply).await,
                        _ if input.is_terminal() => (self.show)("[answer this first; Ctrl-C stops the turn]"),
                        // What a pipe says next, later.
                        _ => input.keep(&line),
                    },
                    None => reads = false,
                },
                else => return std::future::pending().await,
            }
        }
    }

    fn tell(&self, approval: ApprovalView) {
        self.questions.tell(approval, self.as_json, self.show);
    }

    async fn answer(&mut self, reply: Reply) {
        if !self.as_json {
            self.echo(&reply);
        }
        let answer = AnswerApproval {
            id: reply.approval,
            allow: reply.allow,
            always: reply.always,
            everyone: false,
            same_arguments: false,
        };
        let client = self.client.clone();
        // A task of its own: the turn may end before the answer is all done with.
        let answered = tokio::spawn(async move { client.call(answer).await });
        match answered.await {
            // Told by the owner too, perhaps after the turn.
            Ok(Ok(answered)) => self.tell(answered.approval),
            Ok(Err(failure)) => {
                self.questions.0.lock().remove(&reply.approval);
                show::failure(&failure.into(), self.as_json);
            }
            Err(_) => show::failure(&broken(), self.as_json),
        }
    }

    /// Before the answer is given: the call goes on at once then, and shows itself.
    fn echo(&self, reply: &Reply) {
        let asked = self.questions.0.lock().get(&reply.approval).cloned();
        if let Some(asked) = asked {
            let state = if reply.allow {
                ApprovalState::Allowed
            } else {
                ApprovalState::Denied
            };
            self.tell(ApprovalView { state, ..asked });
        }
    }
}

fn broken() -> Failure {
    Failure::new(
        "the answer could not be given",
        "try `callgate approval list`",
    )
}

#[derive(Debug, PartialEq, Eq)]
struct Reply {
    approval: i64,
    allow: bool,
    always: bool,
}

impl Reply {
    /// `/approve N [always]` and `/deny N [always]`; where a person was `asked`, also a plain word.
    fn read(line: &str, asked: Option<i64>) -> Option<Reply> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (command, rest) = words.split_first()?;
        let allow = match *command {
            "/approve" => true,
            "/deny" => false,
            _ => {
                let (allow, always) = plain(line)?;
                return asked.map(|approval| Reply {
                    approval,
                    allow,
                    always,
                });
            }
        };
        let (number, rest) = match rest {
            [number, rest @ ..] if *number != "always" => (number.parse().ok(), rest),
            rest => (asked, rest),
        };
        let always = match rest {
            [] => false,
            ["always"] => true,
            _ => return None,
        };
        Some(Reply {
            approval: number?,
            allow,
            always,
        })
    }
}

/// Whether it is allowed, and for good.
fn plain(line: &str) -> Option<(bool, bool)> {
    Some(match line.trim().to_lowercase().as_str() {
        "y" | "yes" => (true, false),
        "n" | "no" => (false, false),
        "a" | "always" => (true, true),
        "never" => (false, true),
        _ => return None,
    })
}

/// Is it an answer, and no message?
pub fn is_answer(line: &str) -> bool {
    plain(line).is_some()
}

fn described(approval: &ApprovalView) -> String {
    let id = approval.id;
    let method = paint(Colour::Bold, &visible(&approval.method));
    let mut text = format!("{method} waits for your approval (number {id}):");
    match approval.arguments.as_object() {
        Some(arguments) if arguments.is_empty() => text.push_str("\n  without arguments"),
        Some(arguments) => {
            for (name, value) in arguments {
                text.push_str(&format!("\n  {} = {}", visible(name), argument(value)));
            }
        }
        None => text.push_str(&format!("\n  {}", argument(&approval.arguments))),
    }
    if let Some(why) = &approval.reason {
        text.push_str(&format!("\n  {}", visible(&why.to_string())));
    }
    text.push_str(&format!(
        "\n  /approve {id} or /deny {id}; with the word always also from now on"
    ));
    text
}

fn settled(approval: &ApprovalView) -> String {
    let word = match approval.state {
        ApprovalState::Allowed => "allowed",
        ApprovalState::Denied => "denied",
        ApprovalState::Pending | ApprovalState::Withdrawn => "no longer asked",
    };
    let by = match &approval.answered_by {
        Some(by) => format!(" by {by}"),
        None => String::new(),
    };
    let method = visible(&approval.method);
    paint(Colour::Dim, &format!("[{method}: {word}{by}]"))
}

fn argument(value: &Json) -> String {
    let text = value.to_string();
    let shown: String = text.chars().take(ARGUMENT).collect();
    let left = text.chars().count() - shown.chars().count();
    match left {
        0 => visible(&shown),
        left => format!(
            "{}… ({left} more characters: `callgate approval list --json` shows all)",
            visible(&shown)
        ),
    }
}

/// Nothing that a model wrote may move the cursor or turn text around where somebody decides by it.
fn visible(text: &str) -> String {
    let mut visible = String::new();
    for letter in text.chars() {
        match letter {
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => {
                visible.extend(letter.escape_unicode());
            }
            letter if letter.is_control() => visible.extend(letter.escape_unicode()),
            letter => visible.push(letter),
        }
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_reads_as_one() {
        let reply = |approval, allow, always| {
            Some(Reply {
                approval,
                allow,
                always,
            })
        };
        let (allow, deny) = (true, false);
        for (line, asked, expect) in [
            ("/approve 3", None, reply(3, allow, false)),
            (" /deny 3 always ", None, reply(3, deny, true)),
            ("/approve", Some(7), reply(7, allow, false)),
            ("/approve always", Some(7), reply(7, allow, true)),
            ("/approve", None, None),
            ("/approve three", Some(7), None),
            ("/approve 3 please", Some(7), None),
            ("yes", Some(7), reply(7, allow, false)),
            ("N", Some(7), reply(7, deny, false)),
            ("always", Some(7), reply(7, allow, true)),
            ("never", Some(7), reply(7, deny, true)),
            // In a pipe that may be the next message.
            ("yes", None, None),
            ("yes please", Some(7), None),
            ("", Some(7), None),
        ] {
            assert_eq!(Reply::read(line, asked), expect, "{line:?}");
        }
    }

    #[test]
    fn what_a_model_wrote_cannot_disguise_itself() {
        assert_eq!(
            visible("a\u{1b}[2Jb\u{202e}c\u{9b}"),
            "a\\u{1b}[2Jb\\u{202e}c\\u{9b}"
        );
        let long = argument(&json!("x".repeat(5_000)));
        assert!(long.contains("… (1002 more characters"), "{long}");
    }
}
