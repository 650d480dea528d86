"""Decide posts in a service of your own, with FastAPI.

    fastapi run fastapi_app.py
    curl localhost:8000/posts -H 'Content-Type: application/json' -d '[{"id": "a", "text": "good morning"}]'

`hybriddup serve` does the same with limits, metrics and a web page. One process opens the window, so run one worker.
"""

from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

import hybriddup

FOLDER = "window"


class Post(BaseModel):
    id: str
    text: str
    author: str | None = None


@asynccontextmanager
async def lifespan(app: FastAPI):
    with hybriddup.Window.open(FOLDER, horizon="2d", authors="author") as app.state.window:
        yield


app = FastAPI(lifespan=lifespan)


@app.post("/posts")
def decide(posts: list[Post]) -> list[hybriddup.Decision]:
    """Decide posts; FastAPI runs this in a thread, and sends each decision as an object."""
    try:
        return app.state.window.add_many([post.model_dump() for post in posts])
    except hybriddup.InputError as error:
        raise HTTPException(422, str(error)) from error


@app.get("/posts/{post_id}")
def get(post_id: str) -> dict[str, Any]:
    """Return a post; a kept one has n_copies, first_seen, last_seen and authors."""
    post = app.state.window.get(post_id)
    if post is None:
        raise HTTPException(404, "no post with this id within the horizon")
    return post.to_dict()
