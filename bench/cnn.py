"""The step of bench_cnn in PyTorch on one thread: prints processor microseconds a step, the
median of (21) blocks of 20.

    cnn.py [REPETITIONS]      with torch from PyPI, see cnn.sh
"""
import statistics
import sys
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(1)
net = nn.Sequential(
    nn.Conv2d(1, 32, 5), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 5), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(1024, 62))
assert sum(p.numel() for p in net.parameters()) == 115646
if "--nhwc" in sys.argv:
    net = net.to(memory_format=torch.channels_last)
sgd = torch.optim.SGD(net.parameters(), lr=0.01, weight_decay=0.1)
loss = nn.CrossEntropyLoss()
x = (torch.arange(7840, dtype=torch.float64) * 2654435761 % 1000 / 1000).float().reshape(10, 1, 28, 28)
y = torch.arange(10)

repetitions = [int(a) for a in sys.argv[1:] if a.isdigit()]
seconds = []
for _ in range((repetitions or [21])[0] + 1):
    start = time.process_time()
    for _ in range(20):
        sgd.zero_grad()
        loss(net(x), y).backward()
        sgd.step()
    seconds.append((time.process_time() - start) / 20)
print(f"torch {1e6 * statistics.median(seconds[1:]):.0f}")
