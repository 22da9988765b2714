"""Billboard's messages over Flower (docs/flower.md): `apps` moves them, `python3 -m
billboard_flower` starts Flower so that it runs nothing else."""
