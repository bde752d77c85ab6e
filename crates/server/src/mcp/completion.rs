//! What could be meant by the beginning of an argument: ids of sessions and names of their files. Of
//! a persona's arguments nothing is known.

use rmcp::{
    ErrorData,
    model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference},
};

use super::{
    Mcp,
    files::{Home, sessions},
    handler::internal,
    uri::TEMPLATES,
    who::ClientIdentity,
};

pub(super) async fn complete(
    mcp: &Mcp,
    who: &ClientIdentity,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let Reference::Resource(template) = &request.r#ref else {
        return Ok(CompleteResult::default());
    };
    let known = TEMPLATES.iter().find(|(uri, ..)| *uri == template.uri);
    let Some((_, folder, _)) = known else {
        return Ok(CompleteResult::default());
    };
    let said = request.context.and_then(|context| context.arguments);
    let session = said.and_then(|said| said.get("session").cloned());
    let mut values = match request.argument.name.as_str() {
        "session" => ids(mcp, who).await?,
        "name" => names(mcp, who, session.unwrap_or_default(), folder).await?,
        _ => Vec::new(),
    };
    values.retain(|value| value.starts_with(&request.argument.value));
    let (total, most) = (values.len(), CompletionInfo::MAX_VALUES);
    values.truncate(most);
    let found = CompletionInfo::with_pagination(values, u32::try_from(total).ok(), total > most);
    found.map(CompleteResult::new).map_err(internal)
}

async fn ids(mcp: &Mcp, who: &ClientIdentity) -> Result<Vec<String>, ErrorData> {
    let sessions = sessions(mcp, who).await?;
    Ok(sessions
        .iter()
        .map(|session| session.id.to_string())
        .collect())
}

async fn names(
    mcp: &Mcp,
    who: &ClientIdentity,
    session: String,
    folder: &str,
) -> Result<Vec<String>, ErrorData> {
    let sessions = sessions(mcp, who).await?;
    let Some(session) = sessions.iter().find(|it| it.id.to_string() == session) else {
        return Ok(Vec::new());
    };
    let home = Home::new(mcp, session).map_err(internal)?;
    let names = home.names().into_iter();
    let inside =
        |(path, _): (String, u64)| Some(path.strip_prefix(folder)?.strip_prefix('/')?.to_owned());
    Ok(names.filter_map(inside).collect())
}
