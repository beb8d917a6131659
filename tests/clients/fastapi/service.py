"""A FastAPI service with every place that a parameter can have: path, query, header, JSON body and form."""

from enum import Enum
from typing import Annotated

from fastapi import FastAPI, Form, Header, HTTPException, Query, Request
from pydantic import BaseModel, Field

app = FastAPI(title="Shop", version="1.0")


class Size(str, Enum):
    small = "small"
    large = "large"


class Item(BaseModel):
    name: str = Field(min_length=1)
    size: Size = Size.small
    price: float = Field(gt=0)
    # A model that refers to itself.
    parts: list["Item"] = []


class Order(BaseModel):
    items: list[Item]
    note: str | None = None


@app.get("/orders/{order_id}", operation_id="get_order", tags=["orders"])
def get_order(
    order_id: str,
    request: Request,
    fields: Annotated[list[str] | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    x_trace: Annotated[str | None, Header()] = None,
    authorization: Annotated[str | None, Header(include_in_schema=False)] = None,
):
    """Get one order"""
    return {
        "order_id": order_id, "fields": fields, "limit": limit, "trace": x_trace,
        "authorization": authorization, "query": str(request.url.query),
    }  # fmt: skip


@app.post("/orders", operation_id="create_order", tags=["orders"], status_code=201)
def create_order(order: Order, dry_run: bool = False):
    """Create an order"""
    return {"count": len(order.items), "sum": sum(it.price for it in order.items), "note": order.note, "dry_run": dry_run}


@app.put("/orders/{order_id}/note", operation_id="set_note", tags=["orders"])
def set_note(order_id: str, text: Annotated[str, Form()], urgent: Annotated[bool, Form()] = False):
    return {"order_id": order_id, "text": text, "urgent": urgent}


@app.delete("/orders/{order_id}", operation_id="delete_order", tags=["orders"], status_code=204)
def delete_order(order_id: str):
    return None


@app.get("/teapot", operation_id="teapot", tags=["other"])
def teapot():
    raise HTTPException(status_code=418, detail="I am a teapot")


@app.get("/text", operation_id="text", tags=["other"])
def text():
    return "plain words"
