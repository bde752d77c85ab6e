use callgate_contract::*;
use callgate_sandbox::*;
#[tokio::main]
async fn main() {
    let dir = std::env::temp_dir().join("cg-try");
    let id = uuid::Uuid::from_u128(7);
    for f in ["shared", "uploads"] {
        std::fs::create_dir_all(dir.join(id.to_string()).join(f)).unwrap();
    }
    use std::os::unix::fs::PermissionsExt;
    for p in [dir.clone(), dir.join(id.to_string())] {
        std::fs::set_permissions(p, std::fs::Permissions::from_mode(0o711)).unwrap();
    }
    let sh = dir.join(id.to_string()).join("shared");
    let _ = std::os::unix::fs::chown(&sh, Some(200001), Some(200001));
    let jail = Jail::new(JailOptions::new(find_python().unwrap(), dir));
    let t = std::time::Instant::now();
    if let Err(e) = jail.warm() {
        println!("{e}");
        return;
    }
    println!("warm {:?}", t.elapsed());
    let code = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    for _ in 0..std::env::args().nth(2).map_or(1, |n| n.parse().unwrap()) {
        std::thread::sleep(std::time::Duration::from_millis(30));
        let mut spec = RunSpec::new(code.clone(), RunFolders { id, number: 1 });
        for n in ["add", "echo", "fail", "stop"] {
            spec.stubs.push(Stub {
                name: n.into(),
                signature: "(a: int, b: int = 2) -> int".into(),
                doc: "Doc of it.".into(),
            });
        }
        let t = std::time::Instant::now();
        let (tx, rx) = std::sync::mpsc::channel();
        let r = jail
            .run(
                spec,
                Box::new(move |call| {
                    let _ = tx.send(t.elapsed());
                    Box::pin(async move {
                        match call.method.as_str() {
                            "fail" => CodeReply::Error("it failed".into()),
                            "stop" => CodeReply::End(Stop::Agent),
                            "add" => {
                                match (&call.arguments.positional[0], &call.arguments.positional[1])
                                {
                                    (Value::Int(a), Value::Int(b)) => {
                                        CodeReply::Value(Value::Int(a + b))
                                    }
                                    _ => CodeReply::Error("ints".into()),
                                }
                            }
                            _ => CodeReply::Value(call.arguments.positional[0].clone()),
                        }
                    })
                }),
            )
            .await;
        println!(
            "first call {:?} total {:?}\n{:#?}",
            rx.try_recv().ok(),
            t.elapsed(),
            r
        );
    }
}
