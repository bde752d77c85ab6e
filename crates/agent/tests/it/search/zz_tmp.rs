//! tmp
use callgate_agent::search::MethodIndex;
#[test]
fn heldout() {
    let methods = super::catalogue();
    let index = MethodIndex::new(&methods);
    let text = std::fs::read_to_string("/tmp/h/heldout.txt").unwrap();
    let (mut ok, mut n) = (0, 0);
    for line in text.lines() {
        let (meant, request) = line.split_once(" | ").unwrap();
        let found = index.search(request, 5);
        n += 1;
        if found.contains(&meant) {
            ok += 1
        } else {
            eprintln!("MISS {meant} | {request} | {found:?}")
        }
    }
    eprintln!("HELD OUT {ok}/{n}");
}
