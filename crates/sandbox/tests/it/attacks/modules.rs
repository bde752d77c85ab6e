//! Attack: load code into the kernel, or stop the machine.

use crate::harness::attack;

#[test]
fn the_machine_cannot_be_changed() {
    let code = r#"
for name in ("init_module", "finit_module", "delete_module", "kexec_load", "reboot", "swapon", "swapoff",
             "syslog", "acct", "quotactl", "sethostname", "settimeofday", "clock_settime", "personality"):
    probe(name, 0, 0, 0, 0)
"#;
    attack(code).run().refuses("EPERM", "init_module finit_module delete_module kexec_load reboot swapon swapoff syslog acct quotactl sethostname settimeofday clock_settime personality");
}
