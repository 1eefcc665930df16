//! The seccomp filter: refuses system calls that inspect other processes, create namespaces and mounts, load code into
//! the kernel, or use kernel interfaces with a history of vulnerabilities. All others are allowed; the namespaces are
//! the first layer of defense, this is the second.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// The filter program as bytes for the kernel.
pub(crate) fn program() -> Result<Vec<u8>, String> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)
        .map_err(|_| format!("there is no system call filter for {}", std::env::consts::ARCH))?;
    let rules = rules().map_err(|error| format!("the system call filter is not valid: {error}"))?;
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)
        .and_then(BpfProgram::try_from)
        .map_err(|error| format!("the system call filter is not valid: {error}"))?;
    Ok(head().into_iter().chain(filter).flat_map(bytes).collect())
}

const REFUSED: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

const NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Socket families that stay inside the empty network namespace. Others do not: `vsock` reaches the hypervisor.
const SOCKETS: &[libc::c_int] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

fn rules() -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    // A call without conditions is refused whatever its arguments are.
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let clone = NAMESPACES
        .iter()
        .map(|flag| {
            let flag = u64::from(flag.cast_unsigned());
            condition(SeccompCmpOp::MaskedEq(flag), flag)
                .and_then(|only| SeccompRule::new(vec![only]))
        })
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_clone, clone);
    let other_families = SOCKETS
        .iter()
        .map(|family| condition(SeccompCmpOp::Ne, u64::from(family.cast_unsigned())))
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(other_families)?]);
    Ok(rules)
}

fn condition(op: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(0, SeccompCmpArgLen::Dword, op, value)
}

// Classic BPF, as in linux/bpf_common.h and linux/seccomp.h.
const LOAD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_NOT_BELOW: u16 = 0x35;
const RETURN: u16 = 0x06;
const RETURN_ERRNO: u32 = 0x0005_0000;
/// Offset of the call number in `seccomp_data`.
const CALL_NUMBER: u32 = 0;
/// Numbers from here on are the same calls in the x32 ABI, which the rules would not recognize.
const X32_CALLS: u32 = 0x4000_0000;

/// Prepended to the rules, because these two checks return other errors. The flags of `clone3` are in memory, which a
/// filter cannot read; on ENOSYS the C library falls back to `clone`.
fn head() -> [sock_filter; 5] {
    let clone3 = u32::try_from(libc::SYS_clone3).expect("call numbers are small");
    [
        step(LOAD, 0, 0, CALL_NUMBER),
        step(JUMP_IF_EQUAL, 0, 1, clone3),
        step(RETURN, 0, 0, RETURN_ERRNO | libc::ENOSYS.cast_unsigned()),
        step(JUMP_IF_NOT_BELOW, 0, 1, X32_CALLS),
        step(RETURN, 0, 0, RETURN_ERRNO | libc::EPERM.cast_unsigned()),
    ]
}

fn step(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

fn bytes(step: sock_filter) -> [u8; 8] {
    let ([a, b], [c, d, e, f]) = (step.code.to_ne_bytes(), step.k.to_ne_bytes());
    [a, b, step.jt, step.jf, c, d, e, f]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_fits_the_pipe_that_carries_it() {
        let program = program().expect("a filter for this machine");
        assert_eq!(program.len() % 8, 0);
        // It is written completely before it is read, so it must fit even the small pipe that the kernel gives a user
        // with very many pipes.
        assert!(program.len() <= 4096, "{}", program.len());
    }
}
