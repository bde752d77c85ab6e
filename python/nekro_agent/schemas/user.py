"""Users, as routes of plugins describe them."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class User(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: int
    username: str
    password: str = ""
    perm_level: int
    login_time: datetime
    is_active: bool = True
