"""What a program does with OpenAI's client: prints `fine` at its end, and fails otherwise."""

import json
import sys

import openai
from openai import OpenAI

base, key, picture = sys.argv[1:]
client = OpenAI(base_url=base, api_key=key, max_retries=0)

HELLO = "Hello from 世界, to 🌍 and back."
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}
WEATHER = {"Beijing": "sun in Beijing", "Oslo": "rain in Oslo"}


def user(content: object) -> list:
    return [{"role": "user", "content": content}]


def models() -> None:
    assert [model.id for model in client.models.list()] == ["default", "bare", "model/fake"]
    assert client.models.retrieve("model/fake").id == "model/fake"


def chats() -> None:
    whole = client.chat.completions.create(model="default", messages=user("Say hello"))
    assert whole.choices[0].message.content == HELLO
    assert whole.usage and whole.usage.total_tokens > 0
    with client.chat.completions.stream(
        model="bare", messages=user("Say hello"), stream_options={"include_usage": True}
    ) as stream:
        pieces = [event.delta for event in stream if event.type == "content.delta"]
        final = stream.get_final_completion()
    assert len(pieces) > 5 and "".join(pieces) == HELLO
    assert final.usage and final.usage.total_tokens > 0


def tools() -> None:
    messages = user("What is the weather in both?")
    reply = client.chat.completions.create(model="default", messages=messages, tools=[TOOL])
    message = reply.choices[0].message
    assert reply.choices[0].finish_reason == "tool_calls"
    messages.append(message.model_dump(exclude_none=True))
    for call in message.tool_calls or []:
        city = json.loads(call.function.arguments)["city"]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": WEATHER[city]})
    assert len(messages) == 4
    reply = client.chat.completions.create(model="default", messages=messages, tools=[TOOL])
    assert reply.choices[0].message.content == "Sun there, rain here."


def pictures() -> None:
    content = [
        {"type": "text", "text": "What is in the picture?"},
        {"type": "image_url", "image_url": {"url": picture}},
    ]
    reply = client.chat.completions.create(model="bare", messages=user(content))
    assert reply.choices[0].message.content == "A dot."


def refusals() -> None:
    for kind, model, text in (
        (openai.RateLimitError, "bare", "Be busy"),
        (openai.InternalServerError, "bare", "Break down"),
        (openai.NotFoundError, "nobody", "x"),
    ):
        for stream in (False, True):
            try:
                client.chat.completions.create(model=model, messages=user(text), stream=stream)
                raise AssertionError(text)
            except kind:
                pass
    try:
        OpenAI(base_url=base, api_key="callgate_wrong", max_retries=0).models.list()
        raise AssertionError("a wrong key")
    except openai.AuthenticationError as error:
        assert error.code == "invalid_api_key"


def responses() -> None:
    first = client.responses.create(model="bare", input="I am Ann")
    assert first.output_text == "Hello Ann."
    second = client.responses.create(model="bare", input="Who am I?", previous_response_id=first.id)
    assert second.output_text == "You are Ann."
    try:
        client.responses.create(model="bare", input="x", previous_response_id="resp_nothing")
        raise AssertionError("an unknown response")
    except openai.NotFoundError as error:
        assert error.code == "previous_response_not_found"
    found = client.responses.retrieve(second.id)
    assert found.output_text == "You are Ann." and found.previous_response_id == first.id
    items = list(client.responses.input_items.list(second.id, order="asc"))
    assert [item.content[0].text for item in items] == ["I am Ann", "Hello Ann.", "Who am I?"]
    again = list(client.responses.retrieve(second.id, stream=True, starting_after=3))
    assert again[0].sequence_number == 4 and again[-1].type == "response.completed"
    client.responses.delete(second.id)
    try:
        client.responses.retrieve(second.id)
        raise AssertionError("a response that was deleted")
    except openai.NotFoundError as error:
        assert error.param == "response_id"
    with client.responses.stream(model="bare", input="Say hello") as stream:
        pieces = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert "".join(pieces) == HELLO == final.output_text


def vectors() -> None:
    made = client.embeddings.create(model="model/fake", input="a cat")
    assert made.data[0].embedding == [0.5, -0.25, 1.0]


for part in (models, chats, tools, pictures, refusals, responses, vectors):
    part()
print("fine")
