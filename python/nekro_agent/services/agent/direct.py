"""Model APIs whose address and key a plugin brings itself."""

from typing import Any

import httpx


async def _post(
    url: str, body: dict[str, Any], api_key: str | None, proxy: str | None, timeout: float | None
) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    async with httpx.AsyncClient(timeout=timeout or 180, proxy=proxy or None) as client:
        response = await client.post(url, json=body, headers=headers)
    if response.is_error:
        raise RuntimeError(f"{url} answered {response.status_code}: {response.text[:500]}")
    return response.json()


async def chat(
    model: str,
    request: dict[str, Any],
    base_url: str | None,
    api_key: str | None,
    proxy: str | None,
    timeout: float | None,
) -> dict[str, Any]:
    url = f"{(base_url or '').rstrip('/')}/chat/completions"
    answer = await _post(url, {"model": model, **request}, api_key, proxy, timeout)
    choices = answer.get("choices") or []
    if not choices:
        raise RuntimeError(f"{url} gave no answer: {str(answer)[:500]}")
    message, usage = choices[0].get("message") or {}, answer.get("usage") or {}
    return {
        "text": message.get("content") or "",
        "thinking": message.get("reasoning_content") or "",
        "usage": {"input": usage.get("prompt_tokens"), "output": usage.get("completion_tokens")},
        "model": answer.get("model"),
    }


async def embed(
    model: str,
    given: str | list[Any],
    base_url: str | None,
    api_key: str | None,
    dimensions: int | None,
    proxy: str | None,
    endpoint: str,
    timeout: float,
) -> list[float]:
    body: dict[str, Any] = {"model": model, "input": given}
    if dimensions:
        body["dimensions"] = dimensions
    answer = await _post(f"{(base_url or '').rstrip('/')}{endpoint}", body, api_key, proxy, timeout)
    return answer["data"][0]["embedding"]
