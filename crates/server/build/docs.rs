//! The documents as pages: `docs/SUMMARY.md` (in mdBook's format) says which there are and in which order; a
//! Chinese version stands beside its English one as `NAME.zh.md`. Links between documents become links
//! between pages; one to what is no page stays as its text.

use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
};

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

const DOCS: &str = "../../docs";
/// Documents that stand elsewhere, since people look for them there.
const ROOT: [(&str, &str); 4] = [
    ("Security", "SECURITY.md"),
    ("Architecture", "ARCHITECTURE.md"),
    ("Contributing", "CONTRIBUTING.md"),
    ("Changelog", "CHANGELOG.md"),
];

/// One line of the contents.
enum Line {
    Part(String),
    Page { title: String, file: String },
}

pub fn write() -> io::Result<()> {
    println!("cargo:rerun-if-changed={DOCS}");
    for (_, file) in ROOT {
        println!("cargo:rerun-if-changed=../../{file}");
    }
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("no OUT_DIR"))?;
    let folder = Path::new(&out).join("docs");
    fs::create_dir_all(&folder)?;
    let contents = contents()?;
    let sources = sources(&contents);
    let mut list = String::from("const PAGES: &[(&str, &str)] = &[\n");
    for (name, source) in &sources {
        let text = fs::read_to_string(source)?;
        let page = page(name, &text, &contents, &sources);
        let file = folder.join(name);
        fs::write(&file, page)?;
        list.push_str(&format!("    ({name:?}, include_str!({file:?})),\n"));
    }
    list.push_str("];\n");
    super::write("docs.rs", &list)
}

fn contents() -> io::Result<Vec<Line>> {
    let text = fs::read_to_string(Path::new(DOCS).join("SUMMARY.md"))?;
    let mut lines = Vec::new();
    for line in text.lines().skip(1) {
        let line = line.trim().trim_start_matches("- ");
        if let Some(part) = line.strip_prefix("# ") {
            lines.push(Line::Part(part.to_owned()));
        } else if let Some((title, file)) =
            line.strip_prefix('[').and_then(|it| it.split_once("]("))
        {
            lines.push(Line::Page {
                title: title.to_owned(),
                file: file.trim_end_matches(')').to_owned(),
            });
        }
    }
    lines.push(Line::Part("The project".to_owned()));
    lines.extend(ROOT.map(|(title, file)| Line::Page {
        title: title.to_owned(),
        file: format!("../{file}"),
    }));
    Ok(lines)
}

/// By the page's name: where its text is.
fn sources(contents: &[Line]) -> BTreeMap<String, PathBuf> {
    let mut sources = BTreeMap::new();
    for line in contents {
        let Line::Page { file, .. } = line else {
            continue;
        };
        let chinese = file.replace(".md", ".zh.md");
        for file in [file, &chinese] {
            let source = Path::new(DOCS).join(file);
            // Whole, since links are compared with it.
            if let Ok(source) = source.canonicalize() {
                sources.insert(page_name(file), source);
            }
        }
    }
    sources
}

/// `README.md` is the first page.
fn page_name(file: &str) -> String {
    let name = file
        .rsplit('/')
        .next()
        .unwrap_or(file)
        .replace(".md", ".html");
    name.replace("README", "index").to_lowercase()
}

fn page(name: &str, text: &str, contents: &[Line], sources: &BTreeMap<String, PathBuf>) -> String {
    let is_chinese = name.ends_with(".zh.html");
    let title = match heading(text) {
        None | Some("Callgate") => "Callgate".to_owned(),
        Some(title) => format!("{title} · Callgate"),
    };
    let mut nav = String::new();
    for line in contents {
        match line {
            Line::Part(part) => nav.push_str(&format!("<p>{part}</p>")),
            Line::Page { title, file } => {
                let own = page_name(file);
                let chinese = own.replace(".html", ".zh.html");
                let is_here = own == name || chinese == name;
                let translated = sources.get(&chinese).filter(|_| is_chinese);
                let (to, title) = match translated {
                    Some(source) => (chinese, first_heading(source).unwrap_or(title.clone())),
                    None => (own, title.clone()),
                };
                let here = if is_here {
                    " aria-current=\"page\""
                } else {
                    ""
                };
                nav.push_str(&format!("<a href=\"{to}\"{here}>{title}</a>"));
            }
        }
    }
    let mut body = String::new();
    html::push_html(&mut body, events(text, name, sources).into_iter());
    let language = if is_chinese { "zh" } else { "en" };
    format!(
        "<!doctype html><html lang=\"{language}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}</title><link rel=\"stylesheet\" href=\"style.css\"></head>\
         <body><nav aria-label=\"Contents\">{nav}</nav><main>{body}</main></body></html>"
    )
}

fn heading(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("# "))
}

/// What a document calls itself.
fn first_heading(source: &Path) -> Option<String> {
    heading(&fs::read_to_string(source).ok()?).map(str::to_owned)
}

/// With ids at headings, as links name them, and links that lead to pages.
fn events<'a>(text: &'a str, page: &str, sources: &BTreeMap<String, PathBuf>) -> Vec<Event<'a>> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events: Vec<Event> = Parser::new_ext(text, options).collect();
    let mut heading = None;
    // A link that leads nowhere is left open and closed as nothing.
    let mut dropped = false;
    for place in 0..events.len() {
        match &mut events[place] {
            Event::Start(Tag::Heading { .. }) => heading = Some((place, String::new())),
            Event::Text(text) | Event::Code(text) => {
                if let Some((_, words)) = &mut heading {
                    words.push_str(text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((start, words)) = heading.take()
                    && let Event::Start(Tag::Heading { id, .. }) = &mut events[start]
                {
                    *id = Some(slug(&words).into());
                }
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                match destination(dest_url, page, sources) {
                    Some(to) => *dest_url = CowStr::from(to),
                    None => {
                        dropped = true;
                        events[place] = Event::Text("".into());
                    }
                }
            }
            Event::End(TagEnd::Link) if dropped => {
                dropped = false;
                events[place] = Event::Text("".into());
            }
            // What a document holds of HTML is shown as text.
            Event::Html(html) | Event::InlineHtml(html) => {
                events[place] = Event::Text(std::mem::replace(html, "".into()));
            }
            _ => {}
        }
    }
    events
}

/// The page behind a link of another one, if it is one.
fn destination(url: &str, page: &str, sources: &BTreeMap<String, PathBuf>) -> Option<String> {
    if url.starts_with("https://") || url.starts_with("http://") || url.starts_with('#') {
        return Some(url.to_owned());
    }
    let file = url.split('#').next().unwrap_or(url);
    let target = sources
        .get(page)?
        .parent()?
        .join(file)
        .canonicalize()
        .ok()?;
    let (name, _) = sources.iter().find(|(_, source)| **source == target)?;
    Some(url.replacen(file, name, 1))
}

/// As GitHub makes them.
fn slug(words: &str) -> String {
    let kept = words.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    kept.collect::<String>().to_lowercase()
}
