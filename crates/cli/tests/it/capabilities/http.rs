//! Every route.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use callgate_service::{Capability, Surface};

use super::{entries, site::Site};

/// A request that says nothing but its key: status, and what is said of a refusal.
fn ask(site: &Site, entry: &str, key: &str) -> (u16, String) {
    let (verb, path) = entry.split_once(' ').unwrap();
    let verb = if verb == "ANY" { "POST" } else { verb };
    let named = |piece: &str| match piece {
        "{session}" => "web:FriendMessage:none".to_owned(),
        "{run}" => "00000000-0000-7000-8000-000000000000".to_owned(),
        piece if piece.starts_with('{') => "none".to_owned(),
        piece => piece.to_owned(),
    };
    let path: Vec<String> = path.split('/').map(named).collect();
    let (path, host) = (path.join("/"), &site.server.address);
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "{verb} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
    )
    .unwrap();
    let (mut heard, mut bytes) = (Vec::new(), [0; 4096]);
    // A refusal is short; of what goes on for ever the head is enough.
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        heard.extend_from_slice(&bytes[..count]);
        if heard.starts_with(b"HTTP/1.1 2") {
            break;
        }
    }
    let heard = String::from_utf8_lossy(&heard).into_owned();
    let status = heard.split(' ').nth(1).unwrap_or_default().parse();
    (status.unwrap_or_default(), heard)
}

fn lacks_scope((status, said): &(u16, String)) -> bool {
    *status == 403 && said.contains("does not hold the scope")
}

#[test]
fn no_route_opens_without_what_it_needs() {
    let mut site = Site::start("");
    let routes = entries(Surface::Http);
    let guarded = |needs: &[Capability]| needs != [Capability::Anyone];
    let guarded: Vec<_> = routes.iter().filter(|(_, needs)| guarded(needs)).collect();
    assert!(guarded.len() > 80, "{}", guarded.len());
    // A ticket opens these, and no key does.
    let is_ticket = |route: &str| route.contains(" /tickets/");
    let keys = guarded
        .iter()
        .map(|(_, needs)| (site.lacking(needs), site.holding(&needs[..1])));
    let keys: Vec<(String, String)> = keys.collect();
    let before = site.witness();
    for ((route, _), (lacking, _)) in guarded.iter().zip(&keys) {
        let refused = ask(&site, route, lacking);
        let fits = lacks_scope(&refused) || (is_ticket(route) && refused.0 == 401);
        assert!(fits, "{route}: {}", refused.1);
        for (state, key) in &site.locked {
            let (status, said) = ask(&site, route, key);
            // Who shows wrong keys all the time is not looked up any more.
            assert!(matches!(status, 401 | 429), "{route}, {state}: {said}");
        }
    }
    assert_eq!(
        site.witness(),
        before,
        "somebody who may do nothing did something"
    );
    for ((route, _), (_, holding)) in guarded.iter().zip(&keys) {
        let answer = ask(&site, route, holding);
        let let_in = !matches!(answer.0, 0 | 401 | 429) && !lacks_scope(&answer);
        assert!(let_in || is_ticket(route), "{route}: {}", answer.1);
    }
}
