"""Metrics of an epoch that is not over: what `self.log(..., on_epoch=True)` has added up, metrics of torchmetrics, and
what callbacks and schedulers look at. Lightning's checkpoints lack them: an epoch would be told by its last batches."""

from typing import TYPE_CHECKING, Any

import torch

from determined._json import JsonObject

if TYPE_CHECKING:
    from lightning.pytorch import LightningModule, Trainer

Averages = JsonObject


def take(trainer: "Trainer") -> Averages:
    """Return this rank's averages, on the host."""
    results = trainer.fit_loop.epoch_loop._results
    kept = {key: result for key, result in results.items() if _adds_up(result)}
    return {
        "logged": {key: [_host(result.value), _host(_weight(result))] for key, result in kept.items()},
        "metrics": {name: _state(metric) for name, metric in _metrics(trainer.lightning_module)},
        "known": {name: _host(value) for name, value in trainer.callback_metrics.items()},
    }


def put_back(trainer: "Trainer", averages: Averages) -> None:
    """The metrics of torchmetrics and those that are known, before a batch is trained."""
    device = trainer.strategy.root_device
    trainer.callback_metrics.update({name: _moved(value, device) for name, value in averages["known"].items()})
    for name, metric in _metrics(trainer.lightning_module):
        if name in averages["metrics"]:
            saved = averages["metrics"][name]
            metric._update_count = saved["updates"]
            for part, value in saved["parts"].items():
                setattr(metric, part, _moved(value, metric.device))


def add(trainer: "Trainer", logged: JsonObject) -> JsonObject:
    """Return what was logged before to what was since, after a batch; what has not come again yet is returned."""
    results = trainer.fit_loop.epoch_loop._results
    left = {}
    for key, (value, weight) in logged.items():
        if key in results and _adds_up(results[key]):
            _join(results[key], value, weight)
        else:
            left[key] = [value, weight]
    return left


def _adds_up(result: Any) -> bool:
    return bool(result.is_tensor and result.meta.on_epoch and not result.has_reset)


def _weight(result: Any) -> Any:
    return result.cumulated_batch_size if result.meta.is_mean_reduction else torch.tensor(0)


def _join(result: Any, value: torch.Tensor, weight: torch.Tensor) -> None:
    value = value.to(result.value.device)
    if result.meta.is_max_reduction or result.meta.is_min_reduction:
        result.value = result.meta.reduce_fx(value, result.value)
    else:
        result.value = value + result.value
    if result.meta.is_mean_reduction:
        result.cumulated_batch_size = result.cumulated_batch_size + weight.to(result.value.device)
    result._computed = None


def _metrics(module: "LightningModule") -> list[tuple[str, Any]]:
    """List the metrics that keep values: a MetricCollection only holds some that do."""
    return [(name, part) for name, part in module.named_modules() if hasattr(part, "_update_count")]


def _state(metric: Any) -> JsonObject:
    parts = {name: _moved(value, torch.device("cpu")) for name, value in metric.metric_state.items()}
    return {"updates": metric._update_count, "parts": parts}


def _host(value: torch.Tensor) -> torch.Tensor:
    return value.detach().cpu().clone()


def _moved(value: object, device: torch.device) -> object:
    if isinstance(value, torch.Tensor):
        return value.detach().to(device, copy=True)
    return [_moved(each, device) for each in value] if isinstance(value, list) else value
