//! A model server on loopback that speaks OpenAI's wire and answers at once, so that what is left of
//! a message's time is ours: pipeline, journal, and HTTP itself.

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

const EVENTS: &str = concat!(
    r#"data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"Done."}}]}"#,
    "\n\n",
    r#"data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":2,"total_tokens":22}}"#,
    "\n\ndata: [DONE]\n\n"
);

/// Ends with the runtime. Returns the address for a model's settings.
pub(crate) async fn serve() -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer_all(stream));
        }
    });
    Ok(format!("http://{address}/v1"))
}

/// Requests of one connection, until it closes or says something that is none.
async fn answer_all(stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    let response = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{EVENTS}",
        EVENTS.len()
    );
    loop {
        let mut length = 0;
        let mut line = String::new();
        loop {
            line.clear();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            let Some((name, value)) = line.split_once(':') else {
                if line.trim().is_empty() {
                    break;
                }
                continue;
            };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        stream.write_all(response.as_bytes()).await?;
    }
}
