//! Calls that run at the same time: one knows, or learns, where the other works.

use crate::processes::{self, eventually};
use crate::server::{Server, in_every_configuration_of_files};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Works for a while, and then checks that its files are as it has left them.
const VICTIM: &str = "
import os, tempfile, time
def run():
    open('secret', 'w').write('secret')
    os.mkdir('d')
    open(os.path.join(tempfile.gettempdir(), 'temporary'), 'w').write('secret')
    before = [(path, os.stat(path).st_mode, os.stat(path).st_mtime_ns) for path in ('.', 'secret', 'd', '..', tempfile.gettempdir())]
    while not os.path.exists('stop') and time.monotonic() < BEGUN + 3:
        time.sleep(0.02)
    after = [(path, os.stat(path).st_mode, os.stat(path).st_mtime_ns) for path, *_ in before]
    open('large', 'wb').write(bytes(9 << 20))
    return [before == after, sorted(os.listdir('.')), open('secret').read(), os.listdir(tempfile.gettempdir())]
BEGUN = time.monotonic()
";

/// Tries everything on some directories, and tells what has worked.
const ATTACKER: &str = "
import ctypes, os, shutil
libc = ctypes.CDLL(None, use_errno=True)
def run(places):
    worked = []
    def attempt(name, action, *arguments):
        try:
            action(*arguments)
            worked.append([name, str(arguments)])
        except OSError:
            pass
    here = os.getcwd()
    for place in places:
        for name in ('', 'secret', 'd', 'files', 'tmp', 'bundle', '../tmp/temporary'):
            path = os.path.join(place, name)
            attempt('list', os.listdir, path)
            attempt('read', open, path)
            attempt('write', open, path, 'w')
            attempt('add', open, os.path.join(path, 'planted'), 'w')
            attempt('temporary', os.open, path, os.O_TMPFILE | os.O_RDWR)
            attempt('make', os.mkdir, os.path.join(path, 'planted'))
            attempt('truncate', os.truncate, path, 0)
            attempt('take', os.rename, path, 'taken')
            attempt('move', os.rename, path, path + '2')
            attempt('link', os.link, path, 'taken')
            attempt('link', os.symlink, path, 'taken')
            attempt('remove', os.unlink, path)
            attempt('remove', os.rmdir, path)
            attempt('mount', lambda: None if libc.mount(b'x', path.encode(), b'tmpfs', 0, None) == 0 else os.stat('/none'))
            # These pretend to work, and must change nothing.
            for pretended in (lambda: os.chmod(path, 0o777), lambda: os.utime(path, (1, 1)), lambda: os.chown(path, 1, 1)):
                try:
                    pretended()
                except OSError:
                    pass
            open('own', 'w').write('x')
            attempt('put', os.rename, 'own', os.path.join(path, 'planted'))
            try:
                os.chdir(path)
            except OSError:
                continue
            attempt('list there', os.listdir, '.')
            attempt('add there', open, 'planted', 'w')
            attempt('stop', open, 'stop', 'w')
            os.chdir(here)
    return worked
";

#[test]
fn a_path_of_an_earlier_call_leads_nowhere() {
    in_every_configuration_of_files(&[], |configuration, server| {
        let place =
            server.run_on_files("evil", "import os\ndef run(): return os.getcwd()", &json!({}))["result"].clone();
        let files = Path::new(place.as_str().unwrap());
        let (folder, slot) = (files.parent().unwrap(), files.parent().unwrap().parent().unwrap());
        std::thread::scope(|scope| {
            let victim = scope.spawn(|| server.run_on_files("victim", VICTIM, &json!({})));
            eventually("it runs", || server.health()["files"]["queue"]["running"] == 1);
            // The share that has learned the path, and another one.
            for share in ["evil", "third"] {
                let arguments = json!({"places": [files, folder, slot, slot.parent().unwrap()]});
                let answer = server.run_on_files(share, ATTACKER, &json!({"arguments": arguments}));
                assert_eq!(answer["result"], json!([]), "{configuration}: {answer:.2000}");
            }
            must_be_unharmed(configuration, &victim.join().unwrap());
        });
        server.assert_clean("the neighbours");
    });
}

/// With landlock, even somebody who knows the whole path gets nothing. Without it, the path is the secret.
#[test]
fn a_path_of_a_running_call_is_of_no_use_behind_landlock() {
    if !processes::are_root() {
        return processes::skipped("whether the path of a running call can be used, which only root can see");
    }
    in_every_configuration_of_files(&[], |configuration, server| {
        if server.health()["files"]["layers"]["landlock"].is_null() {
            return;
        }
        std::thread::scope(|scope| {
            let victim = scope.spawn(|| server.run_on_files("victim", VICTIM, &json!({})));
            let mut place = None;
            eventually("it works in its directory", || {
                let children = processes::children(u32::try_from(server.file_zygote().unwrap()).unwrap());
                place = children.first().and_then(|child| std::fs::read_link(format!("/proc/{child}/cwd")).ok());
                place.as_ref().is_some_and(|place| place.ends_with("files"))
            });
            let files = place.unwrap();
            let folder = files.parent().unwrap();
            let arguments = json!({"places": [files, folder]});
            let answer = server.run_on_files("evil", ATTACKER, &json!({"arguments": arguments}));
            assert_eq!(answer["result"], json!([]), "{configuration}: {answer:.2000}");
            must_be_unharmed(configuration, &victim.join().unwrap());
        });
        server.assert_clean("the neighbours");
    });
}

#[track_caller]
fn must_be_unharmed(configuration: &str, victim: &Value) {
    let expected = json!([true, ["d", "large", "secret"], "secret", ["temporary"]]);
    assert_eq!(victim["result"], expected, "{configuration}: {victim:.2000}");
    let changed: Vec<&Value> =
        victim["files"]["changed"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!(changed, ["/large", "/secret"], "{configuration}: {victim:.2000}");
}

#[test]
fn no_two_calls_have_the_same_folder() {
    in_every_configuration_of_files(&[], |configuration, server| {
        let mut seen = BTreeSet::new();
        for _ in 0..12 {
            let answer = server.run_on_files("w", "import os\ndef run(): return os.getcwd()", &json!({}));
            let files = Path::new(answer["result"].as_str().unwrap()).to_owned();
            let name = files.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
            assert!(name.len() == 32 && seen.insert(name), "{configuration}: {seen:?}");
        }
    });
}

/// Several shares at once, while zygotes are replaced: everybody finds his own files, and nothing else.
#[test]
fn contents_never_mix_while_zygotes_are_replaced() {
    in_every_configuration_of_files(&["--recycle-calls", "12"], |configuration, server: &Server| {
        std::thread::scope(|scope| {
            for caller in 0..3 {
                scope.spawn(move || {
                    let share = format!("share {caller}");
                    let code = "import os, time\ndef run():\n    mine = open('mine').read()\n    time.sleep(0.01)\n    names = os.listdir('.')\n    open('out', 'w').write(mine)\n    return [mine, names]";
                    let until = std::time::Instant::now() + std::time::Duration::from_secs(300);
                    let mut round = 0;
                    while server.health()["files"]["zygote"]["started"].as_u64().unwrap_or(0) < 4 {
                        let mine = format!("{caller}-{round}");
                        round += 1;
                        let file = server.put(&share, "/mine", mine.as_bytes());
                        let answer = server.run_on_files(&share, code, &json!({"files": [file]}));
                        assert_eq!(answer["result"], json!([mine, ["mine"]]), "{configuration}: {answer}");
                        assert_eq!(answer["files"]["changed"][0]["content"]["data"], mine, "{configuration}");
                        assert!(std::time::Instant::now() < until, "{configuration}");
                    }
                });
            }
        });
        eventually("one zygote of each room is left", || {
            let ours: BTreeSet<i32> = [Some(server.zygote()), server.file_zygote()].into_iter().flatten().collect();
            let children = processes::children(u32::try_from(server.supervisor()).unwrap());
            children.into_iter().collect::<BTreeSet<_>>() == ours
        });
        server.assert_clean("being replaced");
    });
}
