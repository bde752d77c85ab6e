import json

orders = json.loads('[{"id": 1, "total": 12.5, "tags": ["a", "b"]}, {"id": 2, "total": 7, "note": null}]')
summary = {
    "count": len(orders),
    "total": sum(order["total"] for order in orders),
    "tags": sorted({tag for order in orders for tag in order.get("tags", [])}),
}
print(json.dumps(summary, indent=2, sort_keys=True))
print(json.dumps({"名字": "小明", "ok": True}, ensure_ascii=False), json.dumps("é"))
try:
    json.loads("{broken")
except json.JSONDecodeError as error:
    print("invalid:", error)
