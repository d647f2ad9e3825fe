"""How colours look with each kind of colour blindness, and how far apart they look.

Sources: Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE
TVCG 15 (2009), table 1, severity 1.0; Sharma, Wu, Dalal, "The CIEDE2000 Color-Difference Formula", Color Research and
Application 30 (2005).
"""

import itertools
import math

import numpy as np

VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = TO_XYZ.sum(axis=1)  # D65


def linear(colour):
    """Linear RGB of a colour such as `#f0e442`."""
    values = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIELAB of linear RGB."""
    ratio = TO_XYZ @ np.clip(rgb, 0, 1) / WHITE
    x, y, z = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def ciede2000(one, other):
    """The CIEDE2000 difference of two colours in CIELAB."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = ((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2) ** 7
    stretched = 1.5 - 0.5 * math.sqrt(mean / (mean + 25**7))
    c1, c2 = math.hypot(stretched * a1, b1), math.hypot(stretched * a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, stretched * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    if c1 * c2 and (h2 - h1) == 180:
        turn = 180.0
    hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    middle = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    t = (1 - 0.17 * math.cos(math.radians(middle - 30)) + 0.24 * math.cos(math.radians(2 * middle))
         + 0.32 * math.cos(math.radians(3 * middle + 6)) - 0.20 * math.cos(math.radians(4 * middle - 63)))  # fmt: skip
    s_l = 1 + 0.015 * (lightness - 50) ** 2 / math.sqrt(20 + (lightness - 50) ** 2)
    s_c, s_h = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    angle = math.radians(60 * math.exp(-(((middle - 275) / 25) ** 2)))
    rotation = -math.sin(angle) * 2 * math.sqrt(chroma**7 / (chroma**7 + 25**7))
    parts = (l2 - l1) / s_l, (c2 - c1) / s_c, hue / s_h
    return math.sqrt(sum(part**2 for part in parts) + rotation * parts[1] * parts[2])


def seen(colour, vision):
    """A colour as CIELAB, as it looks with that vision."""
    return lab(VISIONS[vision] @ linear(colour))


def smallest_difference(colours, vision):
    """The smallest CIEDE2000 difference between two of the colours, as they look with that vision."""
    return min(ciede2000(seen(a, vision), seen(b, vision)) for a, b in itertools.combinations(colours, 2))


def contrast(one, other):
    """The contrast ratio of two colours (WCAG 2)."""
    low, high = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)
