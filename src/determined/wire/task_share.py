"""Links by which the owner of a notebook or TensorBoard lets others use it."""

from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation


class ShareTaskResponse(Wire):
    """`address`: below the master's. Whoever has it uses the app as its owner does; no login is needed."""

    address: str


SHARE_TASK = Operation("POST", "/api/v1/tasks/{task_id:str}/share", Nothing, ShareTaskResponse, ours=True)
UNSHARE_TASK = Operation("DELETE", "/api/v1/tasks/{task_id:str}/share", Nothing, Nothing, ours=True)
