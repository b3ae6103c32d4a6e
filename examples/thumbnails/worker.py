"""Make thumbnails. Each job runs in a process, because decoding images is CPU-bound."""

import os
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from PIL import Image, ImageOps
from yardmaster import NonRetryable, SyncContext, Worker, Yardmaster


@dataclass(frozen=True)
class Thumbnail:
    source: str
    target: str
    #: Longest side, in pixels.
    size: int = 320


def thumbnail(ctx: SyncContext, payload: Thumbnail) -> dict[str, object]:
    """Write the thumbnail as JPEG and return its path and size. The same image always gives the same file."""
    source, target = Path(payload.source), Path(payload.target)
    ctx.progress(10, f"Reading {source.name}")
    image = smaller(source, payload.size)
    ctx.progress(80, f"Writing {target.name}")
    target.parent.mkdir(parents=True, exist_ok=True)
    # A rename is atomic, so a reader of the folder never sees half an image. If an attempt is lost, two may overlap, so
    # each has its own file.
    temporary = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        image.save(temporary, "JPEG", quality=85)
        ctx.signal.raise_if_aborted()  # A killed job must not write a thumbnail.
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return {"target": str(target), "width": image.width, "height": image.height}


def smaller(source: Path, size: int) -> Image.Image:
    """Read an image, upright and without transparency, in at most this size.

    Raises NonRetryable if a retry would fail in the same way: the file is missing or isn't a valid image. Other disk
    errors are raised unchanged, and the job is retried.
    """
    try:
        with Image.open(source) as image:
            image.thumbnail((size, size))
            upright = ImageOps.exif_transpose(image).convert("RGBA")
    except (FileNotFoundError, IsADirectoryError) as error:
        raise NonRetryable(f"{source}: {error.strerror}") from error
    except (SyntaxError, ValueError, Image.DecompressionBombError) as error:  # Pillow raises them for invalid files.
        raise NonRetryable(f"{source} is not a valid image: {error}") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise NonRetryable(
            f"{source} is not a valid image: {error}"
        ) from error  # It comes from Pillow, not from the disk.
    return Image.alpha_composite(Image.new("RGBA", upright.size, "white"), upright).convert("RGB")


def main() -> None:
    client = Yardmaster(space=os.environ.get("YARDMASTER_SPACE", "thumbnails"))
    worker = Worker(client, concurrency=os.cpu_count() or 1)
    worker.on("thumbnail", process=True)(thumbnail)
    worker.run()


if __name__ == "__main__":  # The processes import this module again.
    main()
