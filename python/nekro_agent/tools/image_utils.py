"""Images as `data:` URLs."""

import base64
import io


async def process_image_data_url(data_url: str, max_size: int = 500 * 1024) -> str:
    """The image made to fit `max_size` bytes; what cannot be read stays as it is."""
    head, comma, body = data_url.partition(",")
    if not comma or not head.startswith("data:image/"):
        return data_url
    data = base64.b64decode(body)
    if len(data) <= max_size:
        return data_url
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as opened:
            image = opened.convert("RGB")
    except (UnidentifiedImageError, OSError):
        return data_url
    for scale in (1.0, 0.75, 0.5, 0.35, 0.25, 0.15):
        size = (max(1, int(image.width * scale)), max(1, int(image.height * scale)))
        written = io.BytesIO()
        image.resize(size).save(written, "JPEG", quality=85)
        if written.tell() <= max_size:
            break
    return f"data:image/jpeg;base64,{base64.b64encode(written.getvalue()).decode()}"
