"""A headless Chromium, driven by WebDriver over HTTP: https://www.w3.org/TR/webdriver2/."""
import base64
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

HANGS = 120  # seconds after which the browser is considered hung
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # WebDriver's name for a reference to an element


class Browser:
    """A browser with its own profile. Leaving the context ends all its processes."""

    def __init__(self):
        self.profile = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-browser-"))
        self.driver = subprocess.Popen(["/usr/bin/chromedriver", "--port=0"], text=True, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT)
        self.session = None

    def __enter__(self):
        try:
            self.address = f"http://127.0.0.1:{self.port()}"
            options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                                "--disable-background-networking", f"--user-data-dir={self.profile}"],
                       "binary": "/usr/bin/chromium"}
            wanted = {"browserName": "chrome", "goog:chromeOptions": options,
                      "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
            self.session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.session:
            self.ask("DELETE", f"/session/{self.session}")
        self.driver.terminate()
        self.driver.wait()
        self.driver.stdout.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def port(self):
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                return int(found[1])
        raise AssertionError("chromedriver ended without naming its port")

    def ask(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=HANGS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {json.load(error)['value']['message']}") from None

    def post(self, path, **body):
        return self.ask("POST", f"/session/{self.session}/{path}", body)

    def devtools(self, command, **parameters):
        """A command of the Chrome DevTools protocol."""
        return self.post("goog/cdp/execute", cmd=command, params=parameters)

    def open(self, file):
        """Opens a file from disk as a reader would, after dropping the logs of earlier pages."""
        self.post("url", url="about:blank")
        self.logs("browser"), self.logs("performance")
        self.post("url", url=f"file://{file}")

    def run(self, script, *arguments):
        """Runs a function's body on the page and returns its value."""
        return self.post("execute/sync", script=script, args=list(arguments))

    def run_async(self, script, *arguments):
        """Like `run`, for an asynchronous body."""
        return self.post("execute/async", args=list(arguments), script="""
            const done = arguments[arguments.length - 1];
            (async (...arguments_) => {%s})(...arguments).then(done, (error) => done(String(error)));""" % script)

    def logs(self, kind):
        return self.post("se/log", type=kind)

    def find(self, selector):
        return self.post("element", using="css selector", value=selector)[ELEMENT]

    def click(self, selector):
        self.post(f"element/{self.find(selector)}/click")

    def keys(self, selector, text):
        self.post(f"element/{self.find(selector)}/value", text=text)

    def wheel(self, selector, x, y, delta):
        """Turns the wheel at a position relative to the element's centre."""
        origin = {ELEMENT: self.find(selector)}
        self.post("actions", actions=[{"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": delta, "origin": origin}]}])

    def drag(self, selector, by):
        self.post("actions", actions=[{"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": {ELEMENT: self.find(selector)}},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", "x": by, "y": 0, "origin": "pointer", "duration": 50},
            {"type": "pointerUp", "button": 0}]}])

    def pinch(self, selector, begin, end):
        """Moves two fingers apart or together, symmetrically about the element's centre."""
        origin = {ELEMENT: self.find(selector)}
        finger = lambda name, side: {"type": "pointer", "id": name, "parameters": {"pointerType": "touch"}, "actions": [
            {"type": "pointerMove", "x": side * begin, "y": 0, "origin": origin}, {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", "x": side * end, "y": 0, "origin": origin, "duration": 100},
            {"type": "pointerUp", "button": 0}]}
        self.post("actions", actions=[finger("left", -1), finger("right", 1)])

    def media(self, media="", **features):
        """Sets the medium of the page ("print" or "") and features such as prefers_color_scheme="dark"."""
        self.devtools("Emulation.setEmulatedMedia", media=media, features=[
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def size(self, width, height, density=1, mobile=False):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=density,
                      mobile=mobile)

    def wait_until(self, script):
        deadline = time.monotonic() + HANGS
        while not self.run(script):
            if time.monotonic() > deadline:
                raise AssertionError(f"never became true: {script}")
            time.sleep(0.02)

    def screenshot(self, file, top=0, height=None):
        """A screenshot of the page from `top` on."""
        sizes = self.devtools("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": top, "width": sizes["width"], "height": height or sizes["height"] - top, "scale": 1}
        data = self.devtools("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        pathlib.Path(file).write_bytes(base64.b64decode(data))
