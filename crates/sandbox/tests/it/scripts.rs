//! Scripts as an AI writes them: what they print in the sandbox is what plain Python prints.

use std::{fs, path::Path, process::Command};

use callgate_contract::Stop;
use callgate_sandbox::find_python;

use crate::harness::trial;

#[test]
fn everyday_scripts_print_what_plain_python_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/scripts");
    let mut scripts: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    scripts.sort();
    assert!(scripts.len() >= 35, "only {} scripts", scripts.len());
    let mut differences = Vec::new();
    for script in scripts {
        let name = script.file_name().unwrap().to_string_lossy().into_owned();
        let code = fs::read_to_string(&script).unwrap();
        let plain = plain_python(&script);
        let report = trial(&code).run().report;
        if report.stop != Stop::Finished || report.stdout != plain || plain.is_empty() {
            differences.push(format!(
                "{name}: plain Python printed {plain:?}, but {report:#?}"
            ));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

fn plain_python(script: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("shared")).unwrap();
    let output = Command::new(find_python().unwrap())
        .args(["-B", "-X", "utf8"])
        .arg(script)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", script.display());
    String::from_utf8(output.stdout).unwrap()
}
