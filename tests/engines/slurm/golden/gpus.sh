#!/bin/bash
#SBATCH --time=2:00:00
#SBATCH --account=vision
#SBATCH --job-name=det-7.a1.2
#SBATCH --comment=determined:c1:7.a1.2
#SBATCH --partition=main
#SBATCH --nodes=2
#SBATCH --ntasks=2
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:a100:4
#SBATCH --no-requeue
#SBATCH --export=HOME,LANG,LOGNAME,PATH,SHELL,SLURM_CONF,USER
#SBATCH --chdir=/
#SBATCH --output=/shared/jobs/determined-%j.out
#SBATCH --open-mode=append
#SBATCH --signal=TERM@120
export SRUN_CPUS_PER_TASK="${SLURM_CPUS_PER_TASK:-1}"
exec srun --kill-on-bad-exit=1 --wait=0 --ntasks-per-node=1 --mpi=none /shared/venv/bin/python -P -m determined.engines.remote.sitter --place <<'DET_ORDER'
{"masterUrl":"https://master:8443","allocationId":"7.a1.2","ticket":"t"}
DET_ORDER
