"""Lockstep's models in PyTorch."""
from torch import nn


class LeNet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 6, 5), nn.Tanh(), nn.AvgPool2d(2),
            nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2),
            nn.Conv2d(16, 120, 5), nn.Tanh())
        self.classifier = nn.Sequential(nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 10))

    def forward(self, images):
        return self.classifier(self.features(images).flatten(1))


M = "max pool"
VGG = {
    11: [64, M, 128, M, 256, 256, M, 512, 512, M, 512, 512, M],
    13: [64, 64, M, 128, 128, M, 256, 256, M, 512, 512, M, 512, 512, M],
    16: [64, 64, M, 128, 128, M, 256, 256, 256, M, 512, 512, 512, M, 512, 512, 512, M],
    19: [64, 64, M, 128, 128, M, 256, 256, 256, 256, M, 512, 512, 512, 512, M, 512, 512, 512, 512, M],
}


class Vgg(nn.Module):
    def __init__(self, depth):
        super().__init__()
        layers, channels = [], 3
        for item in VGG[depth]:
            if item == M:
                layers.append(nn.MaxPool2d(2))
                continue
            layers += [nn.Conv2d(channels, item, 3, padding=1), nn.BatchNorm2d(item), nn.ReLU()]
            channels = item
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(512, 10)

    def forward(self, images):
        return self.classifier(self.features(images).flatten(1))


class BasicBlock(nn.Module):
    def __init__(self, channels_in, channels_out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU()
        self.downsample = None
        if stride != 1 or channels_in != channels_out:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels_in, channels_out, 1, stride=stride, bias=False), nn.BatchNorm2d(channels_out))

    def forward(self, values):
        shortcut = values if self.downsample is None else self.downsample(values)
        middle = self.relu(self.bn1(self.conv1(values)))
        return self.relu(self.bn2(self.conv2(middle)) + shortcut)


class ResNet(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        channels = 64
        for number, count in enumerate(blocks, 1):
            width = 32 << number
            layer = [BasicBlock(channels, width, 1 if number == 1 else 2)]
            layer += [BasicBlock(width, width, 1) for _ in range(count - 1)]
            self.add_module(f"layer{number}", nn.Sequential(*layer))
            channels = width
        self.avgpool = nn.AvgPool2d(4)
        self.fc = nn.Linear(512, 10)

    def forward(self, images):
        values = self.relu(self.bn1(self.conv1(images)))
        values = self.layer4(self.layer3(self.layer2(self.layer1(values))))
        return self.fc(self.avgpool(values).flatten(1))


NETWORKS = {
    "lenet5": LeNet5,
    **{f"vgg{depth}": lambda depth=depth: Vgg(depth) for depth in VGG},
    "resnet18": lambda: ResNet([2, 2, 2, 2]),
    "resnet34": lambda: ResNet([3, 4, 6, 3]),
}
