use super::*;

/// A POSIX ACL: entries of a tag, permissions and a number.
fn acl(entries: &[(AclTag, u32)]) -> PermissionAcl {
    PermissionAcl::Posix(entries.iter().map(|&(tag, permissions)| AclEntry { tag, permissions }).collect())
}

fn file(mode: u32, acl: PermissionAcl) -> FilePermissions {
    FilePermissions { uid: 10, gid: 100, mode, acl }
}

/// Whether a permission is granted, in both ways to find out.
fn may(of: &FilePermissions, user: &AccessUser, permission: AskedPermission) -> bool {
    let (decided, _) = of.decide(user, permission);
    assert_eq!(Gate::of(of, permission).passes(user), decided, "{of:?} {user:?} {permission:?}");
    decided
}

#[test]
fn the_traps_of_the_kernel_are_known() {
    let (owner, named) = (AccessUser::new(10, 1, &[]), AccessUser::new(20, 1, &[]));
    let member = AccessUser::new(30, 100, &[]);
    let reads = |of: &FilePermissions, user| may(of, user, AskedPermission::Read);
    assert!(!reads(&file(0o044, PermissionAcl::None), &owner), "the owner has no permission, others do");
    let owner_in_group = AccessUser::new(10, 100, &[]);
    assert!(!reads(&file(0o040, PermissionAcl::None), &owner_in_group), "the owner is not his group");
    let for_named = |mask, others, mode| {
        let entries = [
            (AclTag::Owner, 6),
            (AclTag::User(20), 4),
            (AclTag::OwningGroup, 4),
            (AclTag::Mask, mask),
            (AclTag::Others, others),
        ];
        file(mode, acl(&entries))
    };
    // The mask stands in the mode as the permissions of the group; without any, the kernel skips the ACL.
    assert!(reads(&for_named(0, 4, 0o604), &named), "a named user counts as others");
    assert!(!reads(&for_named(0, 4, 0o604), &member));
    assert!(!reads(&for_named(1, 4, 0o614), &named), "the mask holds for named users");
    let groups = [
        (AclTag::Owner, 6),
        (AclTag::OwningGroup, 0),
        (AclTag::Group(200), 4),
        (AclTag::Group(201), 1),
        (AclTag::Mask, 7),
        (AclTag::Others, 4),
    ];
    let (both, closed) = (AccessUser::new(30, 200, &[201]), AccessUser::new(30, 201, &[]));
    assert!(reads(&file(0o674, acl(&groups)), &both), "one group alone grants it");
    assert!(!reads(&file(0o674, acl(&groups)), &closed), "members of a group are not others");
    assert!(!reads(&file(0o674, acl(&groups)), &member));
    let search_only = file(0o711, PermissionAcl::None);
    assert!(!reads(&search_only, &named) && may(&search_only, &named, AskedPermission::Search));
    let list_only = file(0o744, PermissionAcl::None);
    assert!(reads(&list_only, &named) && !may(&list_only, &named, AskedPermission::Search));
    let root = AccessUser::new(0, 0, &[]);
    assert!(reads(&file(0, PermissionAcl::None), &root) && reads(&file(0, PermissionAcl::Undecided), &root));
    assert!(!reads(&file(0o777, PermissionAcl::Undecided), &owner));
}

fn random_permissions(random: &mut fastrand::Rng) -> FilePermissions {
    let acl = match random.u8(..10) {
        0..4 => PermissionAcl::None,
        4 => PermissionAcl::Undecided,
        _ => {
            let mut entries = vec![(AclTag::Owner, random.u32(..8))];
            (0..random.u32(..4)).for_each(|uid| entries.push((AclTag::User(uid), random.u32(..8))));
            entries.push((AclTag::OwningGroup, random.u32(..8)));
            (0..random.u32(..4)).for_each(|gid| entries.push((AclTag::Group(gid), random.u32(..8))));
            if random.bool() {
                entries.push((AclTag::Mask, random.u32(..8)));
            }
            entries.push((AclTag::Others, random.u32(..8)));
            self::acl(&entries)
        }
    };
    FilePermissions { uid: random.u32(..5), gid: random.u32(..5), mode: random.u32(..0o1000), acl }
}

fn random_user(random: &mut fastrand::Rng) -> AccessUser {
    let groups: Vec<u32> = (0..random.usize(..4)).map(|_| random.u32(..6)).collect();
    AccessUser::new(random.u32(..6), random.u32(..6), &groups)
}

#[test]
fn a_gate_lets_those_pass_who_have_the_permission_and_equal_ones_are_equal() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..20_000 {
        let of = random_permissions(&mut random);
        for permission in [AskedPermission::Read, AskedPermission::Search] {
            let gate = Gate::of(&of, permission);
            for _ in 0..10 {
                let user = random_user(&mut random);
                may(&of, &user, permission);
            }
            let mut text = Vec::new();
            gate.write(&mut text);
            assert_eq!(Gate::parse(&text).as_ref(), Some(&gate), "{}", String::from_utf8_lossy(&text));
            if gate.is_open() {
                assert_eq!(gate, Gate::open());
            }
        }
    }
    let searchable = |mode| Gate::of(&file(mode, PermissionAcl::None), AskedPermission::Search);
    assert_eq!(searchable(0o750), searchable(0o710));
    assert_eq!(searchable(0o700), searchable(0o744));
    assert!(searchable(0o755).is_open() && searchable(0o600).is_closed());
}

#[test]
fn a_class_says_what_its_checks_say_and_survives_its_text() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..5_000 {
        let directories: Vec<_> =
            (0..random.usize(..4)).map(|_| (random.bool(), random_permissions(&mut random))).collect();
        let own = random_permissions(&mut random);
        let mut chain = std::sync::Arc::<AccessChain>::default();
        for (is_listed, directory) in &directories {
            chain = match is_listed {
                true => chain.enter(directory),
                false => chain.with([(AccessNeed::Search, Gate::of(directory, AskedPermission::Search))]),
            };
        }
        let class = chain.class(None, Some(&own));
        let text = class.encode();
        assert_eq!(AccessClass::parse(&text).as_ref(), Some(&class), "{}", String::from_utf8_lossy(&text));
        for _ in 0..10 {
            let user = random_user(&mut random);
            let mut expected = AccessRights { entry: true, content: true };
            for (is_listed, directory) in &directories {
                let searches = may(directory, &user, AskedPermission::Search);
                expected.entry &= searches && (!is_listed || may(directory, &user, AskedPermission::Read));
                expected.content &= searches;
            }
            expected.content &= may(&own, &user, AskedPermission::Read);
            assert_eq!(class.evaluate(&user), expected, "{class:?} {user:?}");
        }
    }
}

#[test]
fn texts_that_are_no_class_are_refused_and_no_bytes_panic() {
    for text in ["1", "1;s", "1;l+u5;s-u7+*", "1;r?", "1;l+g1;r+u1+g2;s+u4294967295"] {
        let class = AccessClass::parse(text.as_bytes()).unwrap();
        assert_eq!(class.encode(), text.as_bytes());
    }
    for text in [
        "",
        "2",
        "1;",
        "1;x+u1",
        "1;s+u",
        "1;s+u01",
        "1;s+u2+u1",
        "1;s+u1+u1",
        "1;s+g1+u1",
        "1;s+*+u1",
        "1;s??",
        "1;s+u4294967296",
        "1;s+u1;l+u1",
        "1;s;s",
        " 1",
        "1;s+u1 ",
    ] {
        assert_eq!(AccessClass::parse(text.as_bytes()), None, "{text}");
    }
    let mut random = fastrand::Rng::with_seed(5);
    let letters = b"1;slr+-ug*?0123456789x";
    for _ in 0..100_000 {
        let text: Vec<u8> = (0..random.usize(..20)).map(|_| letters[random.usize(..letters.len())]).collect();
        if let Some(class) = AccessClass::parse(&text) {
            assert_eq!(AccessClass::parse(&class.encode()), Some(class));
        }
    }
}

#[test]
fn links_on_the_way_and_directories_above_count() {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path);
    fs::create_dir_all(at("real/deep/down")).unwrap();
    symlink("real/deep", at("link")).unwrap();
    let set = |path: &str, mode| fs::set_permissions(at(path), fs::Permissions::from_mode(mode)).unwrap();
    [("", 0o755), ("real", 0o710), ("real/deep", 0o751), ("real/deep/down", 0o700)]
        .iter()
        .for_each(|(path, mode)| set(path, *mode));
    let gid = fs::metadata(at("real")).unwrap().gid();
    let (member, other) = (AccessUser::new(77, gid, &[]), AccessUser::new(77, gid.wrapping_add(1), &[]));
    let rights = |covered: &[&str], path: &str, user: &AccessUser| {
        let covered: Vec<_> = covered.iter().map(|path| at(path)).collect();
        let chain = Way::new(&covered, &[at(path)]).to(&at(path));
        let file = FilePermissions { uid: 1, gid: 1, mode: 0o444, acl: PermissionAcl::None };
        chain.class(None, Some(&file)).evaluate(user)
    };
    let both = AccessRights { entry: true, content: true };
    let content = AccessRights { entry: false, content: true };
    for path in ["real/deep/down", "link/down"] {
        assert_eq!(rights(&[], path, &member), both, "{path}");
        assert_eq!(rights(&[], path, &other), AccessRights::default(), "real is not for others: {path}");
    }
    // A walk from further above has to list directories that cannot be listed.
    assert_eq!(rights(&["real"], "real/deep/down", &member), content);
    assert_eq!(rights(&[""], "real/deep/down", &member), content);
    assert_eq!(rights(&["real/deep/down"], "real/deep/down", &member), both);
    assert_eq!(rights(&[], "none/file", &member), AccessRights::default(), "nothing is known of it");
}
