//! Routes and webhooks of plugins, over HTTP.

use serde_json::json;

use crate::{
    sandbox_methods::{with_packages, written},
    server::Server,
};

const ROUTES: &str = r#"
from fastapi import APIRouter, Request

hooked = []


@plugin.mount_router()
def routes() -> APIRouter:
    router = APIRouter()

    @router.get("/hello")
    async def hello(request: Request, name: str = "you"):
        seen = {k: v for k, v in request.headers.items() if k in ("cookie", "authorization")}
        return {"hello": name, "user": request.headers.get("x-callgate-user"), "seen": seen}

    @router.get("/hooked")
    async def what():
        return hooked

    return router


@plugin.mount_webhook_method("ping", "ping")
async def ping(_ctx: AgentCtx):
    """Remembers what came."""
    hooked.append(_ctx.webhook_request.body)
"#;

#[test]
fn a_plugin_serves_pages_and_hears_webhooks_of_those_who_hold_a_key() {
    let scene = with_packages();
    let plugin = written(&scene, "pages", ROUTES);
    let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
    let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
    let server = Server::start_with(&scene, &["--plugin", &plugin]);
    let get = |path: &str| server.api("GET", path, &key, None);

    let (status, answer) = get("/plugins/t.pages/hello?name=ann");
    let expected = json!({ "hello": "ann", "user": "operator", "seen": {} });
    assert_eq!((status, answer), (200, expected));
    let none = server.api("GET", "/plugins/t.pages/hello", "callgate_no", None);
    assert_eq!(none.0, 401);
    let forged = [
        ("Host", server.address.as_str()),
        ("Authorization", &format!("Bearer {key}")),
        ("X-Callgate-User", "root"),
    ];
    let page = server.get("/plugins/t.pages/hello", &forged);
    assert!(page.contains(r#""user":"operator""#), "{page}");
    assert!(page.contains("sandbox allow-scripts"), "{page}");
    assert_eq!(get("/plugins/t.pages/none").0, 404);
    assert_eq!(get("/plugins/nobody.here/").0, 404);

    let body = json!({ "event": "push" });
    let (status, called) = server.api("POST", "/api/webhook/ping", &key, Some(&body));
    assert_eq!((status, &called["called"]), (200, &json!(["t.pages"])));
    assert_eq!(get("/plugins/t.pages/hooked").1, json!([body]));
    let refused = server.api("POST", "/api/webhook/ping", "callgate_no", Some(&body));
    assert_eq!(refused.0, 401);
    assert_eq!(
        server.api("POST", "/api/webhook/none", &key, Some(&body)).0,
        404
    );
    server.end();
}
