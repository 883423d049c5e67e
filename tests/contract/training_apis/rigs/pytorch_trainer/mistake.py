"""A script that gives a period as a bare number."""

from model_def import Trial

import determined as det
from determined import pytorch

with pytorch.init(hparams=det.get_cluster_info().trial.hparams) as context:
    pytorch.Trainer(Trial(context), context).fit(validation_period=4)
