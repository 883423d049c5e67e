"""The files that an experiment was submitted with."""

from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation


class FileNode(Wire):
    content_length: int | None = None
    content_type: str | None = None
    files: list["FileNode"] | None = None
    is_dir: bool | None = None
    modified_time: str | None = None
    name: str | None = None
    path: str | None = None


class GetModelDefFileRequest(Wire):
    experiment_id: int | None = None
    path: str | None = None


class GetModelDefFileResponse(Wire):
    file: str | None = None


class GetModelDefResponse(Wire):
    b64_tgz: str


class GetModelDefTreeResponse(Wire):
    files: list["FileNode"] | None = None


GET_MODEL_DEFINITION = Operation(
    "GET", "/api/v1/experiments/{experiment_id:int}/model_def", Nothing, GetModelDefResponse
)
GET_MODEL_DEFINITION_TREE = Operation(
    "GET", "/api/v1/experiments/{experiment_id:int}/file_tree", Nothing, GetModelDefTreeResponse
)
GET_MODEL_DEFINITION_FILE = Operation(
    "POST", "/api/v1/experiments/{experiment_id:int}/file", GetModelDefFileRequest, GetModelDefFileResponse
)
