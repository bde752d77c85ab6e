//! The operator's functions: three lines of Python that remote callers can call.

use callgate_contract::{Caller, JournalId, Surface, Value};
use callgate_plugins::{LoadedPlugin, Source, WorkerError};
use serde_json::{Map, json};

use crate::scene::Scene;

async fn load(scene: &Scene) -> Result<LoadedPlugin, WorkerError> {
    let source = Source {
        path: scene.folder.path().join("functions"),
        flavour: "native".to_owned(),
        worker: "native".to_owned(),
        options: Map::from_iter([("functions".to_owned(), json!(true))]),
        kept: None,
    };
    let [(_, result)] = scene.plugins.load(vec![source]).await.try_into().unwrap();
    result
}

fn write(scene: &Scene, name: &str, code: &str) {
    let folder = scene.folder.path().join("functions");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), code).unwrap();
}

fn from_afar(scene: &Scene) -> Caller {
    Caller {
        surface: Surface::Remote,
        journal: JournalId::fresh(),
        ..scene.caller.clone()
    }
}

#[tokio::test]
async fn add_is_called_from_afar() {
    let scene = Scene::new().await;
    write(&scene, "sums.py", "def add(a, b):\n    return a + b\n");
    let loaded = load(&scene).await.unwrap();
    assert_eq!(loaded.id, "functions");
    let call = |arguments| {
        let (scene, caller) = (&scene, from_afar(&scene));
        async move { scene.call_as(&caller, "add", arguments).await }
    };
    let sum = call(vec![2.into(), 3.into()]).await.unwrap().value;
    assert_eq!(sum, Value::Int(5));
    let text = call(vec!["a".into(), "b".into()]).await.unwrap().value;
    assert_eq!(text, Value::from("ab"));
    let refused = call(vec![1.into()]).await.unwrap_err().to_string();
    assert!(refused.contains("add(a: Any, b: Any)"), "{refused}");
    let raised = call(vec![1.into(), "b".into()]).await.unwrap_err();
    assert!(raised.to_string().starts_with("TypeError: "), "{raised}");
}

#[tokio::test]
async fn a_broken_file_is_told_of_and_a_change_replaces() {
    let scene = Scene::new().await;
    write(&scene, "a.py", "def one():\n    return 1\n");
    write(&scene, "b.py", "def broken(:\n");
    write(&scene, "c.py", "def one():\n    return 3\n");
    let loaded = load(&scene).await.unwrap();
    assert_eq!(
        loaded.warnings,
        [
            "b.py:1: SyntaxError: invalid syntax",
            "c.py:1: 'one' replaces the one of a.py"
        ]
    );
    assert_eq!(scene.value("one", Vec::new()).await, Value::Int(3));
    write(&scene, "c.py", "def two():\n    return 2\n");
    load(&scene).await.unwrap();
    assert_eq!(scene.value("one", Vec::new()).await, Value::Int(1));
    assert_eq!(scene.value("two", Vec::new()).await, Value::Int(2));
}
