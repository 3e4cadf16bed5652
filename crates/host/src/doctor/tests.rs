use super::*;

#[cfg(not(live))]
fn state(report: &Report, name: Capability) -> State {
    report.checks.iter().find(|c| c.name == name).unwrap().state
}

#[test]
#[cfg(live)]
fn what_is_missing_is_named_with_what_mends_it() {
    let finding = Finding::missing("there is no /dev/net/tun");
    let Check { mend, needed, .. } = conclude(Capability::Tun, finding);
    assert!(needed && mend.unwrap().contains("modprobe tun"));
}

#[test]
#[cfg(not(live))]
fn a_build_without_the_live_leg_says_so() {
    let report = examine(&[]);
    assert!(!report.works);
    assert_eq!(state(&report, Capability::Built), State::Missing);
    assert_eq!(state(&report, Capability::Tun), State::Untried);
    assert!(matches!(check(&[Capability::Linux], &[]), Err(Error::NotBuilt)));
}

/// What is tried is tried on the running kernel.
#[cfg(live)]
mod live {
    use super::*;
    use crate::testing::able;

    #[test]
    fn each_thing_is_tried_once_and_what_fails_can_be_mended() {
        let report = examine(&[]);
        let names: Vec<Capability> = report.checks.iter().map(|c| c.name).collect();
        assert_eq!(names, Capability::ALL);
        for check in &report.checks {
            assert_eq!(check.mend.is_none(), check.state == State::Works, "{check:?}");
            assert!(!check.seen.is_empty(), "{check:?}");
        }
    }

    #[test]
    fn the_verdict_is_that_of_what_is_needed() {
        let needs: Vec<Capability> = Capability::ALL.iter().copied().filter(|c| c.needed()).collect();
        let (report, checked) = (examine(&[]), check(&needs, &[]));
        assert_eq!(report.works, checked.is_ok(), "{checked:?}: {report:#?}");
        if let Err(error) = checked {
            let first = report.checks.iter().find(|c| c.needed && c.state != State::Works).unwrap();
            assert!(error.to_string().starts_with(first.name.words()), "{error}");
        }
    }

    #[test]
    fn with_root_what_every_kernel_of_today_has_works() {
        if !able(&[]) {
            return;
        }
        for name in [Capability::Linux, Capability::Built, Capability::Namespaces, Capability::Controls] {
            check(&[name], &[]).unwrap();
        }
    }
}
